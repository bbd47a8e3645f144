"""Keys that are split while rows come: every pair of partners meets once, whenever the split begins and ends."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.admit.conform import times_us
from dovetail.model.query import JoinQuery
from dovetail.plan.partition_grid import Grid, partition_grid
from dovetail.plan.split_keys import key_splits
from dovetail.runtime import hot_keys
from dovetail.runtime.deal import Rows, deal, one_copy_each
from dovetail.runtime.hot_keys import HotKey, HotKeys, Loads, Sample
from dovetail.testing import Push, oracle
from tests.spark.queries import bare, random_rows

SECOND = 1_000_000


def some_rows(seed: int, count: int, start: int, first: int) -> pa.Table:
    """Rows of three keys, one of them on most rows, that lie in six seconds."""
    rows = random_rows(seed, count, start, 3, first)
    hot = np.random.default_rng(seed).random(count) < 0.7
    keys = pa.array(np.where(hot, 1, rows["k"].to_numpy(zero_copy_only=False)), pa.int64(), from_pandas=True)
    return rows.set_column(rows.schema.get_field_index("k"), "k", keys.cast(rows.schema.field("k").type))


def as_rows(stream: str, table: pa.Table, position: int = 0) -> Rows:
    columns = {(stream, name): table[name].combine_chunks() for name in table.column_names}
    return Rows(stream, columns, table.num_rows, position, times_us(columns[stream, "ts"]))


def cells_of(grid: Grid, rows: Rows, hot: HotKeys, query: JoinQuery) -> list[set[int]]:
    order, ends = deal(grid, rows, hot.routes(key_splits(query, grid)))
    cells: list[set[int]] = [set() for _ in range(rows.length)]
    for at, cell in zip(order.tolist(), np.repeat(np.arange(grid.cells), np.diff(ends)).tolist(), strict=True):
        assert cell not in cells[at], "a row is in a cell once"
        cells[at].add(cell)
    return cells


ON = {"AB": "A.k = B.k", "ABC": "A.k = B.k AND B.k = C.k", "CAB": "A.k = B.k AND B.n = C.n"}


@given(st.sampled_from(list(ON)), st.integers(3, 9), st.lists(st.integers(0, 2**16), min_size=5, max_size=7), st.data())
def test_partners_meet_once_whenever_a_split_begins_and_ends(
    names: str, buckets: int, seeds: list[int], data: st.DataObject
) -> None:
    windows = dict(zip("ABC", ("3 seconds", "1 second", "2 seconds"), strict=True))
    query = bare(ON[names], names, window=windows).model
    grid = partition_grid(query, buckets)
    hot = HotKeys()
    tables: dict[str, list[pa.Table]] = {name: [] for name in names}
    cells: dict[str, list[set[int]]] = {name: [] for name in names}
    for batch, seed in enumerate(seeds):
        hot = changed(data, hot, grid, query)
        count = 14 if len(names) == 2 else 8
        for at, name in enumerate(names):
            made = some_rows(seed + at, count, 2 * batch, batch * count)
            tables[name].append(made)
            cells[name] += cells_of(grid, as_rows(name, made, batch * count), hot, query)
        newest = {name: int(times_us(parts[-1]["ts"].combine_chunks()).max()) for name, parts in tables.items()}
        hot = hot.seen(query, newest)
    together = {name: pa.concat_tables(parts) for name, parts in tables.items()}
    for result in oracle(query, [Push(together)]).rows.to_pylist():
        shared = set.intersection(*(cells[name][result[name.lower()]] for name in names))
        assert len(shared) == 1
    for number, split in enumerate(key_splits(query, grid)):
        if split is not None:
            size, below = grid.axes[number].size, int(np.prod([axis.size for axis in grid.axes[number + 1 :]]))
            places = [{cell // below % size for cell in each} for each in cells[split.stream]]
            assert all(len(each) == 1 for each in places), "rows of the split stream are in one place of its axis"


def changed(data: st.DataObject, hot: HotKeys, grid: Grid, query: JoinQuery) -> HotKeys:
    """The list with a key that begins, or one that ends, at a time that is later than all rows."""
    assert hot.newest is not None
    now = hot.newest + data.draw(st.integers(1, SECOND))
    running = [key for key in hot.keys if key.end_us is None]
    splits = [number for number, split in enumerate(key_splits(query, grid)) if split is not None]
    if not splits or not data.draw(st.booleans()):
        return hot
    if running:
        return replace(hot, keys=tuple(replace(key, end_us=now) if key.end_us is None else key for key in hot.keys))
    axis = data.draw(st.sampled_from(splits))
    sample = Sample.of(grid, as_rows("B", some_rows(1, 20, 0, 0)), 20)
    code = max(sample.heavy(axis, 0.0).items(), key=lambda found: found[1])[0]
    return replace(hot, keys=(*hot.keys, HotKey(axis, code, data.draw(st.integers(2, 9)), now)))


@given(st.integers(3, 9), st.integers(0, 2**16), st.integers(2, 9))
def test_what_cells_have_is_gathered_once(buckets: int, seed: int, width: int) -> None:
    query = bare("A.k = B.k", "AB").model
    grid = partition_grid(query, buckets)
    sample = Sample.of(grid, as_rows("A", some_rows(1, 20, 0, 0)), 20)
    hot = HotKeys(keys=tuple(HotKey(0, code, width, -(1 << 62)) for code in sample.heavy(0, 0.0)))
    splits = key_splits(query, grid)
    for name in "AB":
        table = some_rows(seed, 40, 0, 0)
        order, ends = deal(grid, as_rows(name, table), hot.routes(splits))
        owned = [order[start:stop] for start, stop in pairwise(ends)]
        kept = one_copy_each(grid, [as_rows(name, table.take(pa.array(own))) for own in owned], splits)
        found = owned if kept is None else [own[first] for own, first in zip(owned, kept, strict=True)]
        assert sorted(np.concatenate(found).tolist()) == list(range(40))
        assert len(order) > 40 or name == "A"


@given(st.integers(3, 9), st.integers(0, 2**16), st.integers(2, 9), st.integers(0, 8), st.sampled_from(["AB", "ABC"]))
def test_what_one_cell_still_has_is_gathered(buckets: int, seed: int, width: int, late: int, names: str) -> None:
    """Cells forget by themselves: what the others have forgotten is taken from the one that has it."""
    query = bare(" AND ".join(f"{one}.k = {other}.k" for one, other in pairwise(names)), names).model
    grid = partition_grid(query, buckets)
    sample = Sample.of(grid, as_rows("A", some_rows(1, 20, 0, 0)), 20)
    hot = HotKeys(keys=tuple(HotKey(0, code, width, -(1 << 62)) for code in sample.heavy(0, 0.0)))
    splits = key_splits(query, grid)
    table = some_rows(seed, 40, 0, 0)
    rows = as_rows("B", table)
    assert rows.times is not None
    order, ends = deal(grid, rows, hot.routes(splits))
    owned = [order[start:stop] for start, stop in pairwise(ends)]
    bound = int(np.median(rows.times))
    owned = [own if cell == late % grid.cells else own[rows.times[own] >= bound] for cell, own in enumerate(owned)]
    kept = one_copy_each(grid, [as_rows("B", table.take(pa.array(own))) for own in owned], splits)
    found = owned if kept is None else [own[first] for own, first in zip(owned, kept, strict=True)]
    assert sorted(np.concatenate(found).tolist()) == sorted(set(np.concatenate(owned).tolist()))


def sampled(**keys: list[int]) -> dict[str, Sample]:
    return {name: Sample(len(codes), {0: np.array(codes)}) for name, codes in keys.items()}


def hot_after(*batches: dict[str, Sample], names: str = "AB", buckets: int = 8) -> list[HotKeys]:
    query = bare("A.k = B.k", names).model
    grid = partition_grid(query, buckets)
    hot, found = HotKeys(), []
    for number, batch in enumerate(batches):
        frontier = (number - 2) * 100 * SECOND if number else -(1 << 62)
        hot = hot.next(query, grid, batch, frontier)
        found.append(hot)
        hot = hot.seen(query, dict.fromkeys(names, number * 100 * SECOND))
    return found


HALF = [7] * 4_000 + list(range(1_000, 5_000))
EVEN = list(range(8_000))


def test_half_of_all_rows_get_four_cells_of_eight() -> None:
    (hot,) = hot_after(sampled(A=HALF, B=HALF))
    assert [(key.code, key.width) for key in hot.keys] == [(7, 4)]


def test_a_key_that_has_cooled_is_taken_back_and_forgotten() -> None:
    batches = [sampled(A=HALF, B=HALF), *[sampled(A=EVEN, B=EVEN)] * 6]
    counts = [[key.end_us for key in hot.keys] for hot in hot_after(*batches)]
    assert counts == [[None], [None], [None], [200 * SECOND + 1], [200 * SECOND + 1], [], []]


def test_a_key_that_is_hot_again_begins_after_it_has_ended() -> None:
    even, half = sampled(A=EVEN, B=EVEN), sampled(A=HALF, B=HALF)
    *_, last = hot_after(half, even, even, even, half)
    assert [(key.start_us < 0, key.end_us) for key in last.keys] == [(True, 200 * SECOND + 1), (False, None)]
    assert last.keys[1].start_us == 300 * SECOND + 1


@pytest.mark.parametrize(
    ("a", "b", "buckets"),
    [(EVEN, EVEN, 8), (EVEN, HALF, 8), (HALF, HALF, 2), (HALF[-2_000:], HALF[:1_000], 8)],
    ids=["even", "only the copied stream", "two cells", "too few rows"],
)
def test_what_is_not_split(a: list[int], b: list[int], buckets: int) -> None:
    (hot,) = hot_after(sampled(A=a, B=b), buckets=buckets)
    assert hot.keys == ()


def test_times_that_are_not_known_leave_everything_as_it_is() -> None:
    query = bare("A.k = B.k", "AB").model
    grid = partition_grid(query, 8)
    hot = HotKeys().seen(query, {"A": 5, "B": None}).seen(query, {"A": 7})
    assert hot.newest is None
    assert hot.next(query, grid, sampled(A=HALF, B=HALF), 0) == hot
    assert HotKeys.from_json(None).newest is None
    kept = HotKeys(3, {"A": 1}, (HotKey(0, -5, 4, 2, 9, 1),))
    assert HotKeys.from_json(kept.to_json()) == kept


def test_a_stream_is_past_what_it_was_past_with_any_delay() -> None:
    query = bare("A.k = B.k", "AB").model
    longer = bare("A.k = B.k", "AB", delay="1 hour").model
    hot = HotKeys().seen(query, {"A": 10 * SECOND, "B": 9 * SECOND})
    assert hot.seen(longer, {"A": 11 * SECOND}).frontier(longer) == 6 * SECOND
    assert HotKeys().seen(longer, {"B": 9 * SECOND}).frontier(query) == -(1 << 62)


def test_a_block_is_no_larger_than_it_needs_to_be() -> None:
    loads = Loads(8, {7: 300.0}, {7: 10.0}, 1_000.0, 0.0)
    assert loads.width(7) == 2
    assert hot_keys.HOT == 2.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"how": "full"}, "rows of both streams may come out by themselves"),
        ({"late": "divert"}, "a late row that is copied would be diverted several times"),
        ({"window": {"A": dv.rows(3, per="key"), "B": "4 seconds"}}, "a window counts the rows of a key"),
        ({"budget": dv.budget(memory=dv.tuples(30), policy="spill")}, "a budget sheds and spills by cell"),
    ],
)
def test_explain_says_why_keys_are_not_split(options: dict[str, object], said: str) -> None:
    assert f"  hot keys are not split: {said}" in bare("A.k = B.k", "AB", **options).explain()


@pytest.mark.parametrize(
    ("how", "split"), [("inner", "A"), ("left", "A"), ("right", "B"), ("semi", "A"), ("anti", "A")]
)
def test_rows_that_come_out_by_themselves_are_split_and_not_copied(how: str, split: str) -> None:
    query = bare("A.k = B.k", "AB", how=how)
    (found,) = key_splits(query.model, partition_grid(query.model, 4))
    assert found is not None
    assert found.stream == split
    assert "hot keys" not in query.explain()


def test_a_grid_without_keys_says_nothing() -> None:
    assert "hot keys" not in bare("A.n < B.n", "AB", how="full").explain()
