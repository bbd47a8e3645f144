"""Kernels that are run as they stand, in Python, give the rows of the oracle, as compiled ones do."""

import gc
from collections.abc import Iterator
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail import kernel
from dovetail.kernel import FewRows, Kernel
from dovetail.model.window import RowWindow
from dovetail.testing import Close, Push, Script, assert_same_rows, oracle, play_event
from tests.properties.queries import queries
from tests.properties.scripts import scripts
from tests.properties.test_outer import outer_queries
from tests.properties.test_row_windows import row_queries


class Endless(FewRows):
    """Few rows however many there are; which loops they went through."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.loaded = {each: each.run for each in gc.get_objects() if type(each) is Kernel}

    def are(self, arguments: object) -> bool:
        return True

    def through(self, loop: object, arguments: object) -> object:
        self.seen.add(loop.__name__)  # type: ignore[attr-defined]
        return super().through(loop, arguments)  # type: ignore[arg-type]


@pytest.fixture(autouse=True, scope="module")
def interpreted() -> Iterator[Endless]:
    """Also the kernels that other tests have loaded."""
    with patch.object(kernel, "few_rows", Endless()) as rows:
        for each in rows.loaded:
            each.run = each._not_loaded
        yield rows
    for each, run in rows.loaded.items():
        each.run = run


def check(query: dv.Query, script: Script) -> None:
    run = query.local(threads=1)
    assert_same_rows(pa.concat_tables([play_event(run, each) for each in script]), oracle(query.model, script).rows)


KINDS = {"inner": queries(), "outer": outer_queries(), "row windows": row_queries()}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_joins(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(KINDS[kind])
    check(drawn.build(order=data.draw(st.sampled_from(["none", "hold"]))), data.draw(scripts(drawn)))


@given(data=st.data())
def test_row_windows_per_key(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    drawn = drawn.with_windows(*(RowWindow(data.draw(st.integers(1, 3)), "key") for _ in drawn.streams))
    try:
        query = drawn.build()
    except dv.DovetailError:
        event("a stream without a key")
        return
    check(query, data.draw(scripts(drawn)))


@pytest.mark.parametrize("algorithm", ["hash", "scan", "sorted"])
@pytest.mark.parametrize("on", ["A.k = B.k", "ABS(A.k - B.k) <= 2", "ABS(A.x - B.x) <= 0.5", "A.k <> B.k"])
def test_every_structure(on: str, algorithm: str) -> None:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64()})
    streams = [dv.stream(name, time="ts", window="20 seconds", delay="1 minute", schema=schema) for name in "AB"]
    try:
        query = dv.join(*streams, on=on, algorithm=algorithm)
    except dv.DovetailError:
        return  # not one for this condition
    rows = [{"ts": at * 37 % 60 * 1_000_000, "k": at * 13 % 11 - 5, "x": at * 7 % 10 / 4} for at in range(40)]
    table = pa.Table.from_pylist(rows, schema)
    check(query, [Push.of("A", table[:20]), Push.of("B", table[20:]), Push.of("A", table[25:]), Close()])


def test_the_kernels_of_joins_were_interpreted(interpreted: Endless) -> None:
    """By the tests above; but perhaps for one that sorts more rows than those need to have."""
    loops = [each.py_func for each in interpreted.loaded if each._interpreted]
    few = {loop.__name__ for loop in loops if loop.__module__.startswith("dovetail.")} - interpreted.seen
    assert few <= {"_sort_digits"}
