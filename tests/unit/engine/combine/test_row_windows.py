"""How much an as-of join looks at: of each key only what can be inside, however much is pushed at once."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.row_windows import RowCheck

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64()})
WINDOWS: dict[str, Any] = {"P": dv.rows(1, per="key"), "O": "0 seconds"}


def table(rows: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    columns = [np.sort(random.integers(0, 10 * rows, rows)), random.integers(0, 3, rows), np.arange(rows)]
    return pa.table([pa.array(column).cast(field.type) for column, field in zip(columns, SCHEMA, strict=True)], SCHEMA)


def as_of(names: str, tables: dict[str, pa.Table], **windows: Any) -> dv.Query:
    kinds = WINDOWS | windows
    streams = [dv.stream(name, tables[name], time="ts", window=kinds[name]) for name in names]
    return dv.join(*streams, on="P.k = O.k", select="O.v AS o, P.v AS p")


def looked_at(query: dv.Query, patched: pytest.MonkeyPatch) -> int:
    """How many combinations of a whole run are checked for being inside their row windows."""
    count, inside = 0, RowCheck.inside

    def counting(check: RowCheck, results: Partial) -> Partial:
        nonlocal count
        count += len(results)
        return inside(check, results)

    patched.setattr(RowCheck, "inside", counting)
    query.collect()
    patched.undo()
    return count


@pytest.mark.parametrize("names", ["PO", "OP"])
@pytest.mark.parametrize("orders", ["0 seconds", dv.rows(1, per="key")], ids=["zero", "rows"])
def test_what_is_looked_at_grows_with_the_input(names: str, orders: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for rows in (2_000, 8_000, 32_000):
        tables = {"P": table(rows, 1), "O": table(rows // 4, 2)}
        assert looked_at(as_of(names, tables, O=orders), monkeypatch) <= 2 * rows


@pytest.mark.parametrize("names", ["PO", "OP"])
def test_one_large_push_gives_the_last_price_of_each_order(names: str) -> None:
    prices, orders = table(20_000, 1), table(5_000, 2)
    found = as_of(names, {"P": prices, "O": orders}).collect()
    times, keys = (prices[name].cast(pa.int64()).to_numpy() for name in ("ts", "k"))
    expected = set()
    for time, key, order in zip(*(orders[name].cast(pa.int64()).to_numpy() for name in SCHEMA.names), strict=True):
        upto = np.flatnonzero((times <= time) & (keys == key))
        if len(upto):
            expected.add((int(order), int(upto[-1])))
    assert found.num_rows == len(expected)
    assert set(zip(found["o"].to_pylist(), found["p"].to_pylist(), strict=True)) == expected


@pytest.mark.parametrize("names", ["AB", "BA", "BAC"])
@pytest.mark.parametrize("condition", ["ABS(A.x - {}.x) <= 1", "A.k = {0}.k AND ABS(A.x - {0}.x) <= 1"])
def test_what_is_stored_ahead_is_in_no_sorted_index_yet(names: str, condition: str) -> None:
    """All of it comes at the end, so whoever comes first probes indexes that know no value, nor the type of one."""
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64()})
    streams = [dv.stream(name, time="ts", window=dv.rows(1), schema=schema) for name in names]
    on = " AND ".join(condition.format(name) for name in names if name != "A")
    run = dv.join(*streams, on=on, select="A.k", algorithm="sorted").local()
    for time, name in enumerate(names):
        assert run.push(name, [{"ts": time, "k": 1, "x": 0.5}]).num_rows == 0
    assert run.close().num_rows == 1
