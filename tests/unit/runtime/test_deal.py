"""Every result meets in exactly one cell, whatever the predicate and the shape of the grid."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.engine.kernels import by_number
from dovetail.plan.partition_grid import Grid, partition_grid
from dovetail.runtime.deal import Rows, deal
from dovetail.testing import Push, oracle
from tests.spark.queries import CONDITIONS, SCHEMA, bare, random_rows


def cells_of(grid: Grid, stream: str, table: pa.Table, position: int = 0) -> list[set[int]]:
    columns = {(stream, name): table[name].combine_chunks() for name in table.column_names}
    row, ends = deal(grid, Rows(stream, columns, table.num_rows, position))
    cell = np.repeat(np.arange(grid.cells), np.diff(ends))
    cells: list[set[int]] = [set() for _ in range(table.num_rows)]
    for at, where in zip(row.tolist(), cell.tolist(), strict=True):
        assert where not in cells[at], "a row is in a cell once"
        cells[at].add(where)
    return cells


@pytest.mark.parametrize("buckets", [1, 2, 5, 12])
@pytest.mark.parametrize("case", CONDITIONS)
def test_every_result_meets_in_exactly_one_cell(case: str, buckets: int) -> None:
    names, on = CONDITIONS[case]
    query = bare(on, names).model
    grid = partition_grid(query, buckets)
    tables = {name: random_rows(seed, 60 if len(names) < 4 else 30) for seed, name in enumerate(names)}
    cells = {name: cells_of(grid, name, table) for name, table in tables.items()}
    results = oracle(query, [Push(tables)]).rows.to_pylist()
    assert results
    for result in results:
        shared = set.intersection(*(cells[name][result[name.lower()]] for name in names))
        assert len(shared) == 1


@pytest.mark.parametrize("case", CONDITIONS)
def test_rows_go_where_the_grid_says(case: str) -> None:
    names, on = CONDITIONS[case]
    grid = partition_grid(bare(on, names).model, 6)
    for seed, name in enumerate(names):
        cells = cells_of(grid, name, random_rows(seed, 400))
        assert set().union(*cells) <= set(range(grid.cells))
        assert np.mean([len(each) for each in cells]) <= grid.copies(name) * 1.2


def test_rows_of_a_cell_keep_their_order() -> None:
    grid = partition_grid(bare("ABS(A.x - B.x) <= 0.25", "AB").model, 4)
    table = random_rows(3, 500)
    for stream in "AB":
        columns = {(stream, name): table[name].combine_chunks() for name in SCHEMA.names}
        row, ends = deal(grid, Rows(stream, columns, 500, 0))
        assert all((np.diff(row[start:stop]) > 0).all() for start, stop in pairwise(ends))


def band_cells(
    stream: str, type_: pa.DataType, values: Sequence[float], on: str = "ABS(A.{x} - B.{x}) <= 3"
) -> list[set[int]]:
    column = "n" if type_ == pa.int64() else "x"
    grid = partition_grid(bare(on.format(x=column), "AB").model, 16)
    table = random_rows(1, len(values))
    table = table.set_column(SCHEMA.get_field_index(column), column, pa.array(values, type_))
    return cells_of(grid, stream, table)


def test_the_ends_of_int64_do_not_overflow() -> None:
    ends = [2**63 - 1, 2**63 - 4, -(2**63), -(2**63) + 3]
    a, b = (band_cells(stream, pa.int64(), ends) for stream in "AB")
    assert a[0] & b[1]
    assert a[1] & b[0]
    assert a[2] & b[3]
    assert a[3] & b[2]


def test_floats_at_the_very_edge_of_a_band_still_meet() -> None:
    random = np.random.default_rng(5)
    values = random.normal(0, 1000, 20_000)
    near = values + random.choice([-3.0, 3.0], len(values))
    kept = np.abs(values - near) <= 3
    a = band_cells("A", pa.float64(), values.tolist())
    b = band_cells("B", pa.float64(), near.tolist())
    assert all(a[at] & b[at] for at in np.flatnonzero(kept))


MOVED = "B.{x} BETWEEN A.{x} - 3 AND A.{x} + 3"


@pytest.mark.parametrize("on", ["ABS(A.{x} - B.{x}) <= 3", MOVED])
def test_floats_that_are_coarser_than_a_band_still_meet(on: str) -> None:
    values = [sign * 10.0**power for power in range(13, 25) for sign in (-1, 1)]
    a, b = (band_cells(stream, pa.float64(), values, on) for stream in "AB")
    assert all(map(set.intersection, a, b))


def test_infinities_meet_where_bounds_are_added_to_them() -> None:
    a, b = (band_cells(stream, pa.float64(), [float("inf"), float("-inf")], MOVED) for stream in "AB")
    assert all(map(set.intersection, a, b))


def test_infinity_and_nan_go_somewhere() -> None:
    assert all(band_cells("A", pa.float64(), [float("inf"), float("-inf"), float("nan"), 1e300]))


def test_rows_in_turn_go_on_where_the_last_piece_ended() -> None:
    grid = partition_grid(bare("(A.n + B.n) % 7 = 0", "AB").model, 9)
    whole = cells_of(grid, "A", random_rows(1, 10))
    parts = cells_of(grid, "A", random_rows(1, 4)) + cells_of(grid, "A", random_rows(2, 6), position=4)
    assert whole == parts


def test_buckets_get_even_shares() -> None:
    grid = partition_grid(bare("A.n = B.n", "AB").model, 5)
    table = random_rows(1, 5000)
    table = table.set_column(SCHEMA.get_field_index("n"), "n", pa.array(np.arange(5000)))
    sizes = np.bincount([next(iter(cells)) for cells in cells_of(grid, "A", table)])
    assert sizes.min() > 850
    assert sizes.max() < 1150


@given(st.lists(st.integers(0, 4), max_size=30))
def test_places_by_number_are_a_stable_sort(numbers: list[int]) -> None:
    order, ends = by_number(np.array(numbers, np.int64), 5)
    assert order.tolist() == np.argsort(numbers, kind="stable").tolist()
    assert np.diff(ends).tolist() == np.bincount(numbers, minlength=5).tolist()
