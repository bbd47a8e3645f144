"""Every kernel beside its plain twin, on random windows: out of order, partly expired, with outputs of any size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dovetail.engine import kernels
from dovetail.engine.block.arrow_values import text_buffers
from dovetail.engine.buffer.paired import PairIndex
from dovetail.engine.buffer.ranked import SortedIndex
from dovetail.engine.combine.bands import BandArguments, value_ranges
from dovetail.model.predicate import Band
from dovetail.plan.choose_algorithm import cell_width
from tests.unit.engine.combine.twins import drained, hash_index, in_band, last_rows, matching, pushes_out

SMALL = st.integers(-3, 3)
KEYS = st.sampled_from([-(2**63), -1, 0, 2**63 - 1])
ENDS = st.sampled_from([-(2**63), 2**63 - 1, -(2**63) + 1, 0, 5])
FLOATS = st.sampled_from([0.0, 1.0, 0.1, 0.3, -1.0, 1e308, -1e308, 5e-324, float("inf"), float("-inf")])
SIZES = st.sampled_from([1, 2, 7, 300])


@dataclass(frozen=True)
class Case:
    """A window with a few partial results that probe it."""

    window: Any
    values: Any
    times: Any
    lows: Any
    highs: Any
    base: int
    tail: int

    @property
    def end(self) -> int:
        return self.base + len(self.times)

    @property
    def clock(self) -> Any:
        return np.maximum.accumulate(self.times) if len(self.times) else self.times

    @property
    def slack(self) -> int:
        return int((self.clock - self.times).max(initial=0))


@st.composite
def cases(draw: Any, numbers: Any = SMALL, dtype: Any = np.int64) -> Case:
    rows = draw(st.lists(st.tuples(numbers, st.integers(0, 12)), max_size=30))
    probes = draw(st.lists(st.tuples(numbers, st.integers(-2, 14), st.integers(-2, 14)), max_size=6))
    base = draw(st.sampled_from([0, 5, 10**10]))
    times = [time + place // 3 for place, (_, time) in enumerate(rows)]
    return Case(
        np.array([value for value, _ in rows], dtype),
        np.array([value for value, _, _ in probes], dtype),
        np.array(times, np.int64),
        np.array([low for _, low, _ in probes], np.int64),
        np.array([high for _, _, high in probes], np.int64),
        base,
        base + draw(st.integers(0, len(rows))),
    )


@given(cases(), SIZES)
def test_hash_probe(case: Case, size: int) -> None:
    heads, nexts, shift = hash_index(case.window, case.base)
    bound, newest, width = np.arange(len(case.values)), case.lows + 3, 3
    arguments = (
        case.values, bound, 0, newest, width, case.highs, case.window, case.times, nexts, heads, shift,
        case.base, case.tail, case.slack,
    )  # fmt: skip
    assert drained(kernels.hash_probe, *arguments, size=size) == expected(case, lambda own, other: own == other)


@given(cases(), SIZES, st.integers(1, 3), st.integers(0, 4))
def test_last_rows_probe(case: Case, size: int, count: int, odd: int) -> None:
    heads, nexts, shift = hash_index(case.window, case.base)
    times = np.sort(case.times)
    never = 2**62
    leaves = np.array([never if time is None else time for time in pushes_out(case.window, times, count)], np.int64)
    eligible = np.array([place % 4 != odd for place in range(len(times))], np.bool_)
    leaves[~eligible] = 0  # whatever is known of those that are counted elsewhere
    arguments = (
        case.values, np.arange(len(case.values)), 0, case.lows, case.highs, case.window, times, leaves, eligible,
        nexts, heads, shift, case.base, case.tail,
    )  # fmt: skip
    wanted = last_rows(case.values, case.lows, case.highs, case.window, times, leaves, case.base, case.tail)
    wanted = [(parent, tuple_id) for parent, tuple_id in wanted if eligible[tuple_id - case.base]]
    assert drained(kernels.last_rows_probe, *arguments, size=size) == wanted


@given(st.lists(SMALL, max_size=12), SMALL)
def test_first_note_from(notes: list[int], least: int) -> None:
    found = kernels.first_note_from(np.array(notes, np.int64), min(1, len(notes)), len(notes), least)
    assert found == next((at for at, note in enumerate(notes) if at and note >= least), len(notes))


@given(cases(), SIZES)
def test_scan_equal(case: Case, size: int) -> None:
    arguments = (case.values, case.lows, case.highs, case.window, *within(case))
    assert drained(kernels.scan_equal, *arguments, size=size) == expected(case, lambda own, other: own == other)


@given(cases(), SIZES)
def test_scan_all(case: Case, size: int) -> None:
    arguments = (case.lows, case.highs, *within(case))
    assert drained(kernels.scan_all, *arguments, size=size) == expected(case, lambda own, other: True)


def within(case: Case) -> tuple[Any, ...]:
    return case.times, case.clock, case.base, case.tail, case.end, case.slack


def expected(case: Case, test: Any) -> list[tuple[int, int]]:
    return matching(case.values, case.lows, case.highs, case.window, case.times, case.base, case.tail, test)


@st.composite
def bands(draw: Any, bounds: Any) -> Band:
    low, high = draw(st.none() | bounds), draw(st.none() | bounds)
    assume(low is not None or high is not None)
    return Band(None, None, low, high, draw(st.booleans()), draw(st.booleans()), _moved(draw, low, high))  # type: ignore[arg-type]


def _moved(draw: Any, *bounds: float | None) -> bool:
    return all(bound is None or (isinstance(bound, float) and abs(bound) < 1e290) for bound in bounds) and draw(
        st.booleans()
    )


@st.composite
def closed_bands(draw: Any, bounds: Any) -> Band:
    low, high = sorted((draw(bounds), draw(bounds)))
    return Band(None, None, low, high, draw(st.booleans()), draw(st.booleans()), _moved(draw, low, high))  # type: ignore[arg-type]


WHOLE = st.integers(-2, 2) | st.sampled_from([2**62, -(2**62)])
BROKEN = st.sampled_from([-1.0, 0.0, 0.2, 0.1, 1.0, 1e308])
INTEGERS = st.tuples(cases(SMALL | ENDS), bands(WHOLE))
REALS = st.tuples(cases(FLOATS, np.float64), bands(BROKEN))
CLOSED = st.tuples(cases(SMALL | ENDS), closed_bands(WHOLE)) | st.tuples(
    cases(FLOATS, np.float64), closed_bands(BROKEN)
)


@given(INTEGERS | REALS, st.booleans(), SIZES)
def test_bands_by_scan_and_by_sorted_runs(drawn: tuple[Case, Band], window_is_left: bool, size: int) -> None:
    case, band = drawn
    low, high, flags = BandArguments(band, window_is_left).of(case.window.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = value_ranges(case.values, low, high, flags)
    probe = (case.values, *ranges, case.lows, case.highs, low, high, flags)

    def fits(own: Any, other: Any) -> bool:
        return in_band(band, own, other) if window_is_left else in_band(band, other, own)

    wanted = expected(case, fits)
    assert drained(kernels.scan_band, *probe, case.window, *within(case), size=size) == wanted
    index = sorted_index(case)
    stored = (index.ranked, index.ids, index.runs, case.times, case.base, case.tail)
    assert drained(kernels.sorted_probe, *probe, *stored, size=size, places=3) == wanted


@given(INTEGERS | REALS, st.booleans(), SIZES, st.data())
def test_bands_within_a_key_by_sorted_pairs(
    drawn: tuple[Case, Band], window_is_left: bool, size: int, data: st.DataObject
) -> None:
    case, band = drawn
    low, high, flags = BandArguments(band, window_is_left).of(case.window.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = value_ranges(case.values, low, high, flags)
    keys, wanted_keys = (np.array(data.draw(st.lists(KEYS, min_size=n, max_size=n)), np.int64) for n in lengths(case))

    def fits(own: Any, other: Any) -> bool:
        return in_band(band, own, other) if window_is_left else in_band(band, other, own)

    pairs = [(p, i) for p, i in expected(case, fits) if keys[i - case.base] == wanted_keys[p]]
    index = PairIndex()
    for first, last in thirds(case):
        index.insert_pairs(keys, case.window, case.base, case.base + first, case.base + last)
    probe = (wanted_keys, case.values, *ranges, case.lows, case.highs, low, high, flags)
    stored = (index.codes, index.ranked, index.ids, index.runs, case.times, case.base, case.tail)
    assert drained(kernels.pair_probe, *probe, *stored, size=size, places=3) == pairs


def lengths(case: Case) -> tuple[int, int]:
    return len(case.window), len(case.values)


def real(window: float, value: float) -> Case:
    ages = np.zeros(1, np.int64)
    return Case(np.array([window]), np.array([value]), ages, ages, ages, 0, 0)


@example((real(-1e308, -1e308), Band(None, None, 0.0, 1e308)), True, 1)  # type: ignore[arg-type]
@example((real(1e308, 1e308), Band(None, None, -1e308, 1.0)), False, 1)  # type: ignore[arg-type]
@given(CLOSED, st.booleans(), SIZES)
def test_bands_by_cells(drawn: tuple[Case, Band], window_is_left: bool, size: int) -> None:
    case, band = drawn
    width = cell_width(band) or 0.0
    assume(width)
    low, high, flags = BandArguments(band, window_is_left).of(case.window.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = value_ranges(case.values, low, high, flags)

    def fits(own: Any, other: Any) -> bool:
        return in_band(band, own, other) if window_is_left else in_band(band, other, own)

    heads, nexts = np.full(2, -1, np.int64), np.zeros(len(case.window), np.int32)
    kernels.cell_insert(case.window, 1 / width, heads, nexts, 63, case.base, case.base, case.end)
    probe = (case.values, *ranges, case.lows, 0, case.highs, low, high, flags, case.window, case.times)
    stored = (nexts, heads, 63, 1 / width, case.base, case.tail, case.slack)
    assert drained(kernels.cell_probe, *probe, *stored, size=size, places=3) == expected(case, fits)


def sorted_index(case: Case) -> SortedIndex:
    """Filled in three blocks."""
    index = SortedIndex()
    for first, last in thirds(case):
        index.insert(case.window, case.base, case.base + first, case.base + last)
    return index


def thirds(case: Case) -> list[tuple[int, int]]:
    """Where blocks begin and end."""
    third, size = len(case.window) // 3, len(case.window)
    blocks = ((0, third), (third, 2 * third), (2 * third, size))
    return [(first, last) for first, last in blocks if last > first or last == size]


@given(st.lists(st.integers(0, 2), max_size=25), st.integers(1, 3), st.integers(0, 25))
def test_push_out(keys: list[int], count: int, cut: int) -> None:
    base, codes, times = 100, np.array(keys, np.int64), np.arange(len(keys), dtype=np.int64) * 10
    _, nexts, _ = hash_index(codes, base)
    leaves, oldest, follower, position = (np.full(len(keys), fill, np.int64) for fill in (-7, -1, -1, 0))
    cut = min(cut, len(keys))
    for first, last in ((0, cut), (cut, len(keys))):
        kernels.push_out(
            codes, times, nexts, base, base, base + first, base + last, count, leaves, oldest, follower, position
        )
    assert leaves.tolist() == [-7 if time is None else time for time in pushes_out(codes, times, count)]


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20).map(sorted), st.integers(-7, 7))
def test_first_at_least(values: list[int], value: int) -> None:
    array = np.array(values, np.int64)
    assert kernels.first_at_least(array, 0, len(array), value) == np.searchsorted(array, value)
    assert kernels.first_at_least(array, len(array), len(array), value) == len(array)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@given(st.data())
def test_merge_runs(dtype: Any, data: st.DataObject) -> None:
    left, right = (sorted(data.draw(st.lists(SMALL, max_size=10))) for _ in range(2))
    ranked = np.array([9, *left, *right], dtype)
    ids = np.arange(len(ranked), dtype=np.int64)
    out, ids_out = np.empty(len(ranked) - 1, dtype), np.empty(len(ranked) - 1, np.int64)
    kernels.merge_runs(ranked, ids, 1, 1 + len(left), len(ranked), out, ids_out)
    order = np.argsort(ranked[1:], kind="stable")
    assert out.tolist() == ranked[1:][order].tolist()
    assert ids_out.tolist() == (order + 1).tolist()


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@given(st.data())
def test_merge_pairs(dtype: Any, data: st.DataObject) -> None:
    left, right = (sorted(data.draw(st.lists(st.tuples(SMALL, SMALL), max_size=10))) for _ in range(2))
    pairs = [(9, 9), *left, *right]
    codes, ranked = np.array([code for code, _ in pairs]), np.array([value for _, value in pairs], dtype)
    out = np.empty(len(pairs) - 1, np.int64), np.empty(len(pairs) - 1, dtype), np.empty(len(pairs) - 1, np.int64)
    kernels.merge_pairs(codes, ranked, np.arange(len(pairs)), 1, 1 + len(left), len(pairs), *out)
    order = np.lexsort((ranked[1:], codes[1:]))
    assert [each.tolist() for each in out] == [
        codes[1:][order].tolist(),
        ranked[1:][order].tolist(),
        (order + 1).tolist(),
    ]


@given(st.lists(SMALL, min_size=1, max_size=20))
def test_inspect_times_and_running_largest(values: list[int]) -> None:
    times = np.array(values, np.int64)
    clock = np.maximum.accumulate(times)
    assert kernels.inspect_times(times) == (times.min(), times.max(), (clock - times).max())
    out = np.full(len(times), -9, np.int64)
    kernels.running_largest(times, 0, len(times), out, 0)
    assert out.tolist() == np.maximum(clock, 0).tolist()


def test_codes_of_equal_keys_are_equal_and_others_hardly_ever() -> None:
    pairs = np.array([(a, b) for a in range(-50, 50) for b in range(-50, 50)], np.int64)
    first, second = (np.ascontiguousarray(pairs[:, at]) for at in (0, 1))
    codes = kernels.combine_codes(first, second)
    assert len(np.unique(codes)) == len(pairs)
    assert (codes == kernels.combine_codes(first.copy(), second.copy())).all()


@given(st.lists(st.text(max_size=4), max_size=20), st.integers(0, 5))
def test_hash_bytes_sees_only_the_bytes_of_each_text(texts: list[str], offset: int) -> None:
    whole = pa.array(["zz"] * offset + texts, pa.string()).slice(offset)
    codes = kernels.hash_bytes(*text_buffers(whole)).tolist()
    alone = [kernels.hash_bytes(*text_buffers(pa.array([text], pa.large_string()))).tolist()[0] for text in texts]
    assert codes == alone
    assert len(set(codes)) == len(set(texts))


@given(st.lists(st.binary(max_size=4), min_size=1, max_size=8), st.data())
def test_gathering_texts(texts: list[bytes], data: st.DataObject) -> None:
    slots = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=12)), np.int64)
    origin = data.draw(st.sampled_from([0, 1000]))
    offsets = origin + np.cumsum([0, *map(len, texts)], dtype=np.int64)
    positions = np.empty(len(slots) + 1, np.int64)
    size = kernels.gather_offsets(offsets, slots, positions)
    out = np.empty(size, np.uint8)
    kernels.gather_bytes(offsets, np.frombuffer(b"".join(texts), np.uint8).copy(), slots, origin, positions, out)
    assert bytes(out) == b"".join(texts[slot] for slot in slots)
    assert np.diff(positions).tolist() == [len(texts[slot]) for slot in slots]


def test_pair_products_sum_first_to_last() -> None:
    random = np.random.default_rng(1)
    left, right = random.normal(size=(9, 5)), random.normal(size=(7, 5))
    rows = random.integers(0, 9, 20), random.integers(0, 7, 20)
    wanted = []
    for a, b in zip(*rows, strict=True):
        total = 0.0
        for x, y in zip(left[a], right[b], strict=True):
            total += x * y
        wanted.append(total)
    assert kernels.pair_products(left, rows[0], right, rows[1]).tolist() == wanted


@given(st.lists(st.floats(allow_nan=False), max_size=20), st.floats(-1e300, 1e300), st.booleans())
def test_ranges_of_floats_are_wide_enough(numbers: list[float], by: float, bounded: bool) -> None:
    values, below, above = np.array(numbers), -abs(by), abs(by) if bounded else np.inf
    firsts, lasts = kernels.float_ranges(values, below, above)
    slack = 4e-15 * (np.abs(values) + abs(by))
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.allclose(firsts, values - np.where(np.isinf(slack), 0, slack) + below, rtol=1e-15, equal_nan=True)
        assert (firsts <= values + below).all()
        assert (lasts >= values + above).all() if bounded else np.isinf(lasts).all()
