"""The parts of sliding aggregates beside plain twins: numbers for values, exact sums, heaps."""

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.engine.deliver.sliding import numbering
from dovetail.engine.deliver.sliding.changes import Changes
from dovetail.engine.deliver.sliding.exact_sum import Averaging, SummingDoubles
from dovetail.engine.deliver.sliding.extreme import Extreme
from dovetail.engine.deliver.sliding.numbering import Numbering

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
LESS = settings(max_examples=60, deadline=None)


def plain_numbers(starts: list[int], values: list[Any]) -> list[int]:
    known: dict[Hashable, int] = {}
    return [known.setdefault(pair, len(known)) for pair in zip(starts, values, strict=True)]


@pytest.mark.parametrize("collide", [False, True])
@given(data=st.data())
@LESS
def test_equal_values_have_equal_numbers(collide: bool, data: st.DataObject) -> None:
    """Also if all codes are the same, or those of two values are neighbours."""
    values = data.draw(st.lists(st.sampled_from(["a", "b", "c", "", None]), max_size=30))
    starts = data.draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))
    cut = data.draw(st.integers(0, len(values)))
    with pytest.MonkeyPatch.context() as patched:
        if collide:
            patched.setattr(numbering, "key_codes", same_codes)
        made = Numbering(pa.string())
        parts = [
            made.numbers(np.array(starts[part], np.int64), pa.array(values[part], pa.string()))
            for part in (slice(0, cut), slice(cut, None))
        ]
    found = np.concatenate(parts).tolist()
    plain = plain_numbers(starts, values)
    assert len(set(zip(found, plain, strict=True))) == len(set(found)) == len(set(plain))


def same_codes(array: pa.Array) -> tuple[Any, Any]:
    lengths = [-1 if value is None else len(value) for value in array.to_pylist()]
    return np.array(lengths, np.int64), None if not array.null_count else np.array(array.is_valid())


def changes(weights: list[int], moments: list[int] | None = None, until: list[int] | None = None) -> Changes:
    """One group, a moment of its own for each change."""
    count = len(weights)
    at = np.array(moments if moments is not None else range(count), np.int64)
    ends = np.array(until if until is not None else [1 << 40] * count, np.int64)
    return Changes.of(at, np.zeros(count, np.int64), np.array(weights, np.int64), ends)


@given(st.lists(DOUBLES, min_size=1, max_size=20))
@LESS
def test_sums_of_doubles_are_rounded_once(values: list[float]) -> None:
    """All come, then all go, in the order in which they came."""
    both = changes([1] * len(values) + [-1] * len(values))
    summed = SummingDoubles(average=False).after(both, pa.array(values + values), 1).to_pylist()
    for count in range(len(values)):
        assert summed[count] == nearest(sum(map(Fraction, values[: count + 1])))
        left = values[count + 1 :]
        assert summed[len(values) + count] == (nearest(sum(map(Fraction, left))) if left else None)


def nearest(exact: Fraction | int) -> float:
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
@LESS
def test_averages_of_integers_are_rounded_once(values: list[int]) -> None:
    found = Averaging().after(changes([1] * len(values)), pa.array(values, pa.int64()), 1).to_pylist()
    assert found == [float(Fraction(sum(values[: count + 1]), count + 1)) for count in range(len(values))]


@given(st.lists(DOUBLES, min_size=1, max_size=20))
@LESS
def test_averages_of_doubles_are_rounded_once(values: list[float]) -> None:
    found = SummingDoubles(average=True).after(changes([1] * len(values)), pa.array(values), 1).to_pylist()
    exact = [sum(map(Fraction, values[: count + 1])) / (count + 1) for count in range(len(values))]
    assert found == [float(each) for each in exact]


@pytest.mark.parametrize("greatest", [False, True])
@pytest.mark.parametrize("type_", [pa.int64(), pa.string(), pa.decimal128(38, 0)], ids=str)
@given(data=st.data())
@LESS
def test_extremes_whatever_leaves_first(greatest: bool, type_: pa.DataType, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.tuples(st.integers(-40, 40), st.integers(0, 15)), min_size=1, max_size=30))
    values: list[Any] = [pa.scalar(number).cast(type_).as_py() for number, _ in numbers]
    until = [at + more for at, (_, more) in enumerate(numbers)]
    made = Extreme(type_, greatest)
    found = made.after(changes([1] * len(values), until=until), pa.array(values, type_), 1).to_pylist()
    choose = max if greatest else min
    for at, extreme in enumerate(found):
        assert extreme == choose(value for value, end in zip(values[: at + 1], until, strict=False) if end >= at)
