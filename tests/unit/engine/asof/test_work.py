"""The work of an as-of join grows with its rows, not with their square: counted in rows looked at, not in time."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.asof import chains
from dovetail.engine.kernels import asof as kernels

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
BATCH = 500


class Read:
    """An array that counts how often it is read."""

    def __init__(self, values: Any) -> None:
        self._values, self.count = values, 0

    def __getitem__(self, at: int) -> Any:
        self.count += 1
        return self._values[at]


def looks(name: str, rows: int) -> float:
    """How many rows of one chain are looked at for each row that asks, at times all over the chain."""
    slots, heads = np.zeros(rows, np.int32), np.full(1, -1, np.int32)
    before, shortcut, depth = (np.empty(rows, np.int32) for _ in range(3))
    times, found = Read(np.arange(rows)), np.empty(rows, np.int64)
    asked = np.random.default_rng(1).permutation(rows)
    kernels.chain_rows.py_func(slots, 0, rows, heads, before, shortcut, depth)
    getattr(kernels, name).py_func(slots, asked, times, heads, before, shortcut, depth, found)
    assert found.tolist() == asked.tolist()
    return times.count / rows


@pytest.mark.parametrize("name", ["find_backward", "find_forward"])
def test_a_row_is_found_in_a_number_of_steps_that_grows_with_the_logarithm(name: str) -> None:
    few, many = looks(name, 1 << 6), looks(name, 1 << 12)
    assert many <= few * 12 / 6 * 1.25  # twice as many digits


class Handled:
    """Counts the rows that kernels are handed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows = 0
        for name in ("answer_backward", "find_backward", "find_forward", "find_between"):
            self._count(monkeypatch, name, lambda arguments: len(arguments[0]))
        self._count(monkeypatch, "chain_rows", lambda arguments: arguments[2] - arguments[1])

    def _count(self, monkeypatch: pytest.MonkeyPatch, name: str, rows: Any) -> None:
        kernel = getattr(kernels, name)

        def counted(*arguments: Any) -> Any:
            self.rows += rows(arguments)
            return kernel(*arguments)

        monkeypatch.setattr(chains, name, counted)


def handled(asof: dv.AsOf, pushes: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Rows that kernels are handed for each row pushed: five of T for one of Q, which answers most of them."""
    streams = dv.stream("T", time="ts", schema=SCHEMA), dv.stream("Q", time="ts", schema=SCHEMA, asof=asof)
    with monkeypatch.context() as patched:
        counter = Handled(patched)
        run = dv.join(*streams, on="T.k = Q.k", how="left", select="T.k, Q.ts").local(threads=1)
        for batch in range(pushes):
            times = np.arange(batch * BATCH, (batch + 1) * BATCH)
            run.push("T", pa.table([pa.array(times).cast(SCHEMA.types[0]), times % 131], SCHEMA))
            run.push("Q", pa.table([pa.array(times[::5]).cast(SCHEMA.types[0]), times[::5] % 97], SCHEMA))
        run.close()
    return counter.rows / (pushes * BATCH * 1.2)


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("tolerance", [None, 2_000])
def test_rows_are_handled_as_often_in_many_pushes_as_in_few(
    direction: Any, tolerance: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (handled(dv.AsOf(direction, tolerance), pushes, monkeypatch) for pushes in (10, 160))
    assert many <= 1.2 * few
