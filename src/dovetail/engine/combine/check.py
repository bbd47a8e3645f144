"""The predicates of a level that its access has not settled, over whole arrays of combinations."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.block.arrow_values import true_rows
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.similarity import is_similar
from dovetail.engine.evaluate.compiled import compiled
from dovetail.model.expression import Call, Expression, columns_of, streams_of
from dovetail.model.predicate import Band, Equality, Predicate, Residual, Similarity
from dovetail.plan.physical import Attribute, Key, Number, Vector

Windows = Mapping[str, Window]
Flags = npt.NDArray[np.bool_]


def check(predicate: Predicate, windows: Windows, partial: Partial) -> Flags:
    """For which combinations the predicate holds."""
    if isinstance(predicate, Equality):
        left = _numbers(windows, partial, predicate.left, Key((predicate.left,)))
        same: Flags = left == _numbers(windows, partial, predicate.right, Key((predicate.right,)))
        return same
    if isinstance(predicate, Band):
        left = _numbers(windows, partial, predicate.left, Number(predicate.left))
        return in_band(predicate, left, _numbers(windows, partial, predicate.right, Number(predicate.right)))
    if isinstance(predicate, Similarity):
        return _similar(predicate, windows, partial)
    return holds(predicate.expression, windows, partial)


def _numbers(windows: Windows, partial: Partial, operand: Expression, attribute: Attribute) -> npt.NDArray[Any]:
    (name,) = streams_of(operand)
    window = windows[name]
    return window.attribute(attribute)[partial.ids[name] - window.base]


def in_band(band: Band, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> Flags:
    """For which pairs of numbers the band holds."""
    keep: Flags
    if (band.low, band.high) == (0, None):
        keep = left > right if band.low_strict else left >= right
        return keep
    if (band.low, band.high) == (None, 0):
        keep = left < right if band.high_strict else left <= right
        return keep
    if band.moved:
        return _in_moved(band, left, right)
    with np.errstate(invalid="ignore"):
        gap = np.subtract(left, right)
    above = (left >= 0) & (right < 0) & (gap < 0)  # larger than any integer
    below = (left < 0) & (right >= 0) & (gap >= 0)
    keep = np.ones(len(gap), np.bool_)
    if band.low is not None:
        keep &= (above | (gap > band.low if band.low_strict else gap >= band.low)) & ~below
    if band.high is not None:
        keep &= (below | (gap < band.high if band.high_strict else gap <= band.high)) & ~above
    return keep


def _in_moved(band: Band, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> Flags:
    keep: Flags = np.ones(len(left), np.bool_)
    if band.low is not None:
        first = right + band.low
        keep &= left > first if band.low_strict else left >= first
    if band.high is not None:
        last = right + band.high
        keep &= left < last if band.high_strict else left <= last
    return keep


def _similar(wanted: Similarity, windows: Windows, partial: Partial) -> Flags:
    (left,), (right,) = streams_of(wanted.left), streams_of(wanted.right)
    ours, theirs = windows[left].attribute(Vector(wanted.left)), windows[right].attribute(Vector(wanted.right))
    if ours.shape[1] != theirs.shape[1]:
        return np.zeros(len(partial), np.bool_)
    slots = partial.ids[left] - windows[left].base, partial.ids[right] - windows[right].base
    return is_similar(wanted, ours, slots[0], theirs, slots[1])


def holds(expression: Expression, windows: Windows, partial: Partial) -> Flags:
    """For which combinations a boolean expression is true (NULL is not)."""
    return true_rows(values(expression, windows, partial))


def holds_with_null(predicate: Predicate, windows: Windows, partial: Partial) -> Flags:
    """For which combinations a predicate holds on a stream that is missing in them."""
    if isinstance(predicate, Residual):
        return holds(predicate.expression, windows, partial)
    if isinstance(predicate, Equality):
        return holds(Call("eq", (predicate.left, predicate.right), pa.bool_()), windows, partial)
    left, right = (values(side, windows, partial) for side in (predicate.left, predicate.right))
    there: Flags = true_rows(pc.and_(pc.is_valid(left), pc.is_valid(right)))
    if isinstance(predicate, Similarity) or not there.any():
        return np.zeros(len(partial), np.bool_)
    numbers = (np.asarray(pc.fill_null(side, 0)) for side in (left, right))
    return there & in_band(predicate, *numbers)


def values(expression: Expression, windows: Windows, partial: Partial) -> pa.Array:
    """An expression over the stored columns, one value per combination; the columns of a missing stream are NULL."""
    columns = {
        (column.stream, column.name): windows[column.stream].take(column.name, partial.ids[column.stream])
        if column.stream in partial.ids
        else pa.nulls(len(partial), column.type)
        for column in set(columns_of(expression))
    }
    return compiled(expression)(columns, len(partial))
