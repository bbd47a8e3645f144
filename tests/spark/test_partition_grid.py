from dataclasses import replace
from typing import Any

import pytest

import dovetail as dv
from dovetail.model.query import JoinQuery
from dovetail.plan.buckets import buckets_of
from dovetail.plan.partition_grid import Grid, KeyAxis, RangeAxis, StreamAxis, partition_grid
from dovetail.plan.thread_cells import thread_grid
from dovetail.runtime.spark.layout import Layouts
from dovetail.testing import assert_same_rows, oracle
from tests.spark.feeding import random_batches
from tests.spark.queries import bare, build

SPILL = dv.budget(memory=dv.tuples(40), policy="spill")


def grid_of(on: str, names: str, buckets: int, **options: Any) -> Grid:
    return partition_grid(bare(on, names, **options).model, buckets)


def shape(grid: Grid) -> list[tuple[type, int]]:
    return [(type(axis), axis.size) for axis in grid.axes]


def test_one_common_key_uses_every_bucket_and_copies_nothing() -> None:
    grid = grid_of("A.k = B.k AND B.k = C.k", "ABC", 7)
    assert shape(grid) == [(KeyAxis, 7)]
    assert grid.copy_factor == 1
    assert str(grid) == "7 cells: hash of A.k = B.k = C.k (7); copies: A 1, B 1, C 1; copy factor 1"


def test_a_key_of_several_columns_is_hashed_together() -> None:
    (axis,) = grid_of("A.k = B.k AND A.g = B.g", "AB", 4).axes
    assert isinstance(axis, KeyAxis)
    assert [str(e) for e in axis.keys["A"]] == ["A.k", "A.g"]


def test_null_safe_keys_are_hashed_without_copies() -> None:
    grid = grid_of("A.k IS NOT DISTINCT FROM B.k", "AB", 4)
    assert shape(grid) == [(KeyAxis, 4)]
    assert grid.copy_factor == 1


def test_the_key_common_to_all_wins_over_a_longer_one() -> None:
    grid = grid_of("A.k = B.k AND B.k = C.k AND A.g = B.g", "ABC", 4)
    assert shape(grid) == [(KeyAxis, 4)]
    assert grid.copy_factor == 1


def test_a_chain_of_keys_spans_two_axes() -> None:
    grid = grid_of("A.k = B.k AND B.g = C.g", "ABC", 4)
    assert shape(grid) == [(KeyAxis, 2), (KeyAxis, 2)]
    assert [grid.copies(name) for name in "ABC"] == [2, 1, 2]


def test_a_fast_stream_is_copied_less() -> None:
    query = bare("A.k = B.k AND B.g = C.g", "ABC").model
    grid = partition_grid(query, 4, {"A": 100.0, "B": 1.0, "C": 1.0})
    assert grid.copies("A") == 1
    assert grid.copies("C") == 4


def test_the_cells_of_a_query_follow_the_rates_it_is_planned_for() -> None:
    """On Spark and in threads alike; the rows are the same."""
    names, rates = "ABC", {"A": 1000.0, "B": 10.0, "C": 10.0}
    batches = random_batches(names, seed=3, batches=1)
    query = build("A.k = B.k AND B.g = C.g", dict(batches[0].batch), partitions=4, plan="multiway")
    planned = query.planned(rates=rates)
    assert [Layouts(query.model, 4).plan().grid.copies(name) for name in names] == [2, 1, 2]
    assert [Layouts(planned.model, 4).plan().grid.copies(name) for name in names] == [1, 1, 4]
    assert thread_grid(planned.model, 4) == Layouts(planned.model, 4).plan().grid
    assert "copies: A 1, B 1, C 4" in planned.explain()
    assert Layouts(query.planned(rates=1000).model, 4) == Layouts(query.model, 4), "they say nothing of one and another"
    assert_same_rows(planned.collect(threads=4), oracle(planned.model, batches).rows)
    with pytest.raises(dv.PlanError, match="rates: the query has no 'Z'; it has: A, B, C"):
        query.planned(rates={"Z": 1.0})


def test_a_band_is_cut_into_ranges_and_the_others_reach_over() -> None:
    (axis,) = grid_of("ABS(A.x - B.x) <= 0.5", "AB", 4).axes
    assert isinstance(axis, RangeAxis)
    assert axis.width == 4.0
    assert sorted(axis.copies(name) for name in "AB") == [1, 1.25]


def test_bands_add_up_along_a_chain() -> None:
    (axis,) = grid_of("A.n - B.n BETWEEN 1 AND 2 AND B.n - C.n BETWEEN 10 AND 30", "ABC", 8).axes
    assert isinstance(axis, RangeAxis)
    reaches = {name: (reach.low, reach.high) for name, reach in axis.reaches.items()}
    assert axis.anchor == "A"
    assert reaches == {"A": (0, 0), "B": (1, 2), "C": (11, 32)}


@pytest.mark.parametrize("on", ["A.n < B.n", "(A.n + B.n) % 7 = 0", "A.n * 2 > B.n", "A.k = B.k OR A.g = B.g"])
def test_anything_else_is_dealt_out_in_turn(on: str) -> None:
    assert shape(grid_of(on, "AB", 5)) == [(StreamAxis, 2), (StreamAxis, 2)]


def with_windows(query: JoinQuery, **windows: Any) -> JoinQuery:
    streams = tuple(replace(s, window=windows.get(s.name, s.window)) for s in query.streams)
    return replace(query, streams=streams)


def test_a_row_window_over_the_stream_is_seen_whole_in_every_cell() -> None:
    query = with_windows(bare("A.k = B.k", "AB").model, A=dv.rows(10))
    grid = partition_grid(query, 4)
    assert grid.copies("A") == grid.cells
    assert grid.copies("B") == 1


def test_a_row_window_per_key_stays_with_its_key() -> None:
    query = with_windows(bare("A.k = B.k", "AB").model, A=dv.rows(10, per="key"))
    assert shape(partition_grid(query, 4)) == [(KeyAxis, 4)]
    loose = with_windows(bare("A.n < B.n", "AB").model, A=dv.rows(10, per="key"))
    assert partition_grid(loose, 4).copies("A") == partition_grid(loose, 4).cells


@pytest.mark.parametrize(("how", "once"), [("left", "A"), ("right", "B"), ("semi", "A"), ("anti", "A"), ("full", "AB")])
@pytest.mark.parametrize("on", ["A.k = B.k", "ABS(A.x - B.x) <= 1", "A.n < B.n"])
def test_rows_that_come_out_by_themselves_are_in_one_cell(how: Any, once: str, on: str) -> None:
    grid = grid_of(on, "AB", 4, how=how)
    assert all(grid.copies(name) == 1 for name in once)
    assert grid.cells == (4 if on == "A.k = B.k" or how != "full" else 1)


def test_one_bucket_is_one_cell() -> None:
    grid = grid_of("A.k = B.k", "AB", 1)
    assert grid.axes == ()
    assert str(grid).startswith("1 cells: everything together")


def test_many_axes_and_buckets_are_planned_quickly() -> None:
    on = "A.k = B.k AND B.g = C.g AND C.n = D.n AND ABS(A.x - D.x) <= 1"
    assert grid_of(on, "ABCD", 200).cells <= 200


@pytest.mark.parametrize(
    ("on", "options", "buckets"),
    [
        ("A.k = B.k", {}, [1, 2, 5]),
        ("A.k = B.k", {"order": "hold"}, [1, 1, 5]),
        ("A.k = B.k", {"order": "hold", "partitions": 2}, [2, 2, 2]),
        ("A.k = B.k", {"order": "hold", "partitions": 2, "budget": SPILL}, [1, 1, 1]),
        ("A.k = B.k", {"budget": SPILL}, [1, 2, 5]),
        ("ABS(A.x - B.x) <= 0.5", {"order": "sync"}, [1, 2, 5]),
        ("A.k = B.k AND (A.n + B.n) % 7 = 0", {"order": "sync"}, [1, 2, 5]),
    ],
)
def test_buckets_follow_the_session_unless_one_gives_order_for_less(
    on: str, options: dict[str, Any], buckets: list[int]
) -> None:
    query = bare(on, "AB", **options).model
    assert [buckets_of(query, partitions) for partitions in (1, 2, 5)] == buckets
