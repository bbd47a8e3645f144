"""Held results that are still ids: merged in order, and never without the tuples they name."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.block.time_order import places_between, places_in_order
from dovetail.engine.combine.partial import Partial
from dovetail.engine.deliver.fresh import Fresh

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.string()})


def results(*times: int) -> Partial:
    newest = np.array(times, np.int64)
    return Partial({"A": newest * 10, "B": newest * 100}, newest, newest)


@given(st.lists(st.integers(-(2**60), 2**60) | st.integers(0, 5), min_size=1, max_size=50))
def test_times_are_put_in_order_ties_as_they_were(times: list[int]) -> None:
    order = places_in_order(np.array(times, np.int64))
    wanted = sorted(range(len(times)), key=lambda place: times[place])
    assert wanted == list(range(len(times))) if order is None else order.tolist() == wanted


@given(st.integers(0, 40), st.integers(1, 4000), st.integers(0, 2**32 - 1))
def test_times_that_lie_close_together_with_few_far_away(bits: int, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    times = np.concatenate([random.integers(0, 1 << bits, count), random.integers(0, 100, count)])
    random.shuffle(times)
    places, in_order = places_between(times, int(times.min()), int(times.max()))
    assert places.tolist() == np.argsort(times, kind="stable").tolist()
    assert in_order.tolist() == sorted(times.tolist())


@given(
    st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=8), min_size=1, max_size=6),
    st.lists(st.integers(0, 30), max_size=6),
)
def test_results_leave_by_time_and_ties_as_they_were_added(parts: list[list[int]], limits: list[int]) -> None:
    fresh, left = Fresh(), list[int]()
    parts = [*parts, parts[0] * 5000]
    for part in parts:
        fresh.add(results(*part))
    for limit in sorted([*limits, 30]):
        due = fresh.due(limit)
        if due is not None:
            assert len(due)
            assert due.ids["A"].tolist() == (due.newest * 10).tolist()
            left += due.newest.tolist()
        assert len(fresh) == sum(time > limit for part in parts for time in part)
    assert left == sorted(time for part in parts for time in part)


def test_what_is_due_leaves_in_order_and_the_rest_waits() -> None:
    fresh = Fresh()
    fresh.add(results(3, 9, 5))
    fresh.add(results(8, 4))
    due = fresh.due(8)
    assert due is not None
    assert due.newest.tolist() == [3, 4, 5, 8]
    assert due.ids["B"].tolist() == [300, 400, 500, 800]
    assert fresh.due(8) is None
    assert fresh.oldest("A", -1) == 90
    assert len(fresh) == 1


def test_many_small_parts_are_one_part_in_the_end() -> None:
    fresh = Fresh()
    for time in range(1000, 0, -1):
        fresh.add(results(time))
    assert len(fresh._parts) < 70
    everything = fresh.all()
    assert everything is not None
    assert everything.newest.tolist() == list(range(1, 1001))


def test_held_results_outlive_the_tuples_they_name() -> None:
    """Results of each block wait for the other stream while the windows expire and move many times."""
    streams = [dv.stream(name, time="ts", window="1 second", schema=SCHEMA) for name in "AB"]
    query = dv.join(*streams, on="A.k = B.k", select="A.v AS a, B.v AS b", order="hold")
    run, rows = query.local(), 0
    steps = [_block(start) for start in range(0, 60_000, 2_000)]
    given_out = []
    for block in steps:
        given_out.append(run.push("A", block))
        given_out.append(run.push("B", block))
        rows += block.num_rows
    given_out.append(run.close())
    table = pa.concat_tables(given_out)
    assert table.column("a").equals(table.column("b"))
    assert table.num_rows == rows
    times = table.column("result_time").cast(pa.int64()).to_numpy()
    assert (np.diff(times) >= 0).all()


def _block(start: int) -> pa.Table:
    keys = np.arange(start, start + 2_000)
    columns = [
        pa.array(keys * 1_000).cast(pa.timestamp("us")),
        pa.array(keys),
        pa.array([f"row {key}" for key in keys]),
    ]
    return pa.table(columns, schema=SCHEMA)
