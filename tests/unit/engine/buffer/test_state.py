"""Piles, marks and slice logs: what is written once, what is gone, what is read back."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.block.block import Block
from dovetail.engine.buffer.marks import Marks
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.slices import SliceLog
from dovetail.engine.buffer.window import Window

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "l": pa.list_(pa.int64())})


def pile() -> Pile:
    return Pile("held", lambda rows: rows.column(0).to_numpy(), -100)


def batch(times: list[int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"time": times, "place": list(range(len(times)))})


@given(st.lists(st.tuples(st.lists(st.integers(0, 9), max_size=5), st.integers(-1, 10)), max_size=8))
def test_a_pile_gives_rows_in_order_and_its_changes_rebuild_it(steps: list[tuple[list[int], int]]) -> None:
    first, second, waiting, limit = pile(), pile(), [], -100
    for added, more in steps:
        limit = max(limit, more)
        first.add(batch(added))
        waiting += added
        given = first.release(limit)
        due = sorted(time for time in waiting if time <= limit)
        waiting = [time for time in waiting if time > limit]
        assert ([] if given is None else given.column(0).to_pylist()) == due
        new, gone = first.changes()
        second.drop({number for _, number in gone})
        for (_, number), rows in new.items():
            second.load(number, rows)
        second.restore(first.header())
        assert len(second) == len(first) == len(waiting)
        assert second.earliest(99) == first.earliest(99) == min(waiting, default=99)
    assert_same_ends(first, second)


def assert_same_ends(first: Pile, second: Pile) -> None:
    ends = [each.release(99) for each in (first, second)]
    ours, theirs = (None if end is None else end.to_pydict() for end in ends)
    assert ours == theirs


def window() -> Window:
    streams = [dv.stream(name, time="ts", window="1 second", schema=SCHEMA) for name in "AB"]
    plan = dv.join(*streams, on="TRUE", select="A.l AS l").plan
    return Window(plan.query.streams[0], plan.storage["A"])


def block(first: int, count: int) -> Block:
    times = np.arange(first, first + count)
    return Block(
        {"ts": pa.array(times).cast(pa.timestamp("us")), "l": pa.array([[t] for t in times.tolist()])}, times, {}
    )


def read(rows: pa.RecordBatch) -> Block:
    times = rows.column(0).cast(pa.int64()).to_numpy()
    return Block(dict(zip(rows.schema.names, rows.columns, strict=True)), times, {})


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.booleans()), max_size=12))
def test_slices_and_marks_rebuild_a_window(steps: list[tuple[int, int, bool]]) -> None:
    ours, theirs = window(), window()
    logs = SliceLog("A", ours, read), SliceLog("A", theirs, read)
    marks = Marks("given", "A", ours, 0), Marks("given", "A", theirs, 0)
    for added, forgotten, written in steps:
        if added:
            ours.append(block(ours.end, added))
            marks[0].write(np.arange(ours.end - added, ours.end, 2), ours.end)
        ours.forget(min(ours.tail + forgotten, ours.end))
        if written:
            for source, target in ((logs[0], logs[1]), (marks[0], marks[1])):
                new, gone = source.changes()
                target.drop({number for _, number in gone})
                for (_, number), rows in new.items():
                    target.load(number, rows)
                target.restore(source.header())
            assert (theirs.tail, theirs.end) == (ours.tail, ours.end)
            assert theirs.batch(theirs.tail, theirs.end).equals(ours.batch(ours.tail, ours.end))
            assert marks[0].range(ours.tail, ours.end).tolist() == marks[1].range(theirs.tail, theirs.end).tolist()


def test_renewal_keeps_some_tuples_under_new_ids_with_their_marks() -> None:
    ours = window()
    log, marks = SliceLog("A", ours, read), Marks("given", "A", ours, 0)
    ours.append(block(0, 10))
    marks.write(np.array([2, 7]), 5)
    before = log.changes()[0] | marks.changes()[0]
    ours.renew(np.array([2, 3, 9]))
    assert (ours.tail, ours.end) == (10, 13)
    assert ours.batch(10, 13).column(1).to_pylist() == [[2], [3], [9]]
    assert marks.range(10, 13).tolist() == [5, 0, 0]
    (written, gone), (noted, forgotten) = log.changes(), marks.changes()
    assert {*gone, *forgotten} == before.keys()
    assert list(written) == [("window/A", 10)]
    assert [rows.to_pydict() for rows in noted.values()] == [{"id": [10], "value": [5]}]
