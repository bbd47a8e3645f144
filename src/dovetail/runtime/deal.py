"""Dealing rows out to the cells of a grid, a whole batch of one stream at a time.

    A.x = B.x AND B.y = C.y on a grid of 2 x 2         rows of A:  x=7  x=8
    x=7 hashes to 1, x=8 to 0                          row 0 -> cells 2, 3      row 1 -> cells 0, 1

Every process must come to the same cells for the same rows, so nothing here depends on a process:
codes are the engine's 64-bit key codes, mixed; rows dealt out in turn go by their position.

Rows of a hot key have a route of their own (``hot_keys.py``): over neighbouring coordinates in turn, or to each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.derive import derive
from dovetail.engine.kernels import by_number, spread
from dovetail.plan.partition_grid import Axis, Grid, KeyAxis, RangeAxis, Reach, StreamAxis
from dovetail.plan.physical import Group, Key, Number
from dovetail.plan.split_keys import KeySplit

Integers = npt.NDArray[np.int64]
_FARTHEST = 1 << 48  # ranges beyond are one: floats there are rounded by more than a range is wide


@dataclass(frozen=True)
class Rows:
    """Columns of one stream's rows, and the position of the first among all that whoever deals has seen.

    Where keys have routes of their own, it has ``times`` too.
    """

    stream: str
    columns: Mapping[tuple[str, str], pa.Array]
    length: int
    position: int
    times: Integers | None = None


@dataclass(frozen=True)
class Route:
    """Where on an axis the rows of a key go: over ``width`` coordinates, from their own on.

    Those of the ``split`` stream with a time in ``dealt`` go to one of these in turn, those of the other owners with a
    time in ``copied`` to each. The ends of both do not count.
    """

    axis: int
    code: int
    width: int
    split: str
    dealt: tuple[int, int]
    copied: tuple[int, int]


def deal(grid: Grid, rows: Rows, routes: Sequence[Route] = ()) -> tuple[Integers, Integers]:
    """Row numbers by cell and then by row, a row once per copy; and where each cell's begin, and the last end."""
    row: Integers | None = None  # until rows are copied, each stands there once
    cell: Integers | None = None
    for number, axis in enumerate(grid.axes):
        own = [route for route in routes if route.axis == number]
        coordinate = _own_coordinate(axis, rows, own)
        if coordinate is None:
            copies, coordinates = _coordinates(axis, rows, own)
            row, cell, nth = _copied(row, cell, copies)
            coordinate = coordinates[(np.cumsum(copies) - copies)[row] + nth]
        elif row is not None:
            coordinate = coordinate[row]
        cell = coordinate if cell is None else cell * axis.size + coordinate
    if cell is None:
        return np.arange(rows.length), np.array([0, rows.length])
    order, ends = by_number(cell, grid.cells)
    return (order if row is None else row[order]), ends


def _copied(
    row: Integers | None, cell: Integers | None, copies: Integers
) -> tuple[Integers, Integers | None, Integers]:
    """Rows and their cells so far, each as often as it has copies; and the number of each copy."""
    times = copies if row is None else copies[row]
    nth = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    rows = np.repeat(np.arange(len(copies)) if row is None else row, times)
    return rows, None if cell is None else np.repeat(cell, times), nth


def one_copy_each(
    grid: Grid, cells: Sequence[Rows], splits: Sequence[KeySplit | None]
) -> list[npt.NDArray[np.bool_]] | None:
    """Which rows of each cell are gathered, so that every row of the stream is there once; None: all.

    Rows of one time that were copied to the same cells are taken from one of them: from that which has most of them,
    because each forgets for itself, the oldest first, and rows at its gate may still ask for what others forgot.
    """
    if not any(_is_copied(axis, cells[0].stream, split) for axis, split in zip(grid.axes, splits, strict=True)):
        return None
    marks = np.concatenate([_marks(grid, rows, cell, splits) for cell, rows in enumerate(cells)])
    where = np.repeat(np.arange(len(cells)), [rows.length for rows in cells])
    group = np.unique(marks, axis=0, return_inverse=True)[1].reshape(-1)
    there, counts = np.unique(group * len(cells) + where, return_counts=True)
    most = np.lexsort((there % len(cells), -counts, there // len(cells)))
    first = np.unique((there // len(cells))[most], return_index=True)[1]
    chosen = (there % len(cells))[most][first]
    return np.split(chosen[group] == where, np.cumsum([rows.length for rows in cells])[:-1])


def _is_copied(axis: Axis, stream: str, split: KeySplit | None) -> bool:
    if isinstance(axis, KeyAxis) and stream in axis.keys:
        return split is not None and split.stream != stream
    return not _owns(axis, stream)


def _marks(grid: Grid, rows: Rows, cell: int, splits: Sequence[KeySplit | None]) -> Integers:
    """Alike for rows of one time that were copied to the same cells."""
    assert rows.times is not None
    found = [rows.times]
    for axis, split in zip(reversed(grid.axes), reversed(splits), strict=True):
        cell, own = divmod(cell, axis.size)
        if not _is_copied(axis, rows.stream, split):
            found.append(np.full(rows.length, own))
        elif isinstance(axis, KeyAxis) and rows.stream in axis.keys:
            found.append(key_codes(axis, rows))
        elif isinstance(axis, RangeAxis) and rows.stream in axis.reaches:
            found += _low_and_high(axis, rows)
    return np.stack(found, axis=1)


def _owns(axis: Axis, stream: str) -> bool:
    return stream in axis.keys if isinstance(axis, KeyAxis) else isinstance(axis, StreamAxis) and axis.stream == stream


def _own_coordinate(axis: Axis, rows: Rows, routes: Sequence[Route]) -> Integers | None:
    """The one coordinate of each row on an axis that its stream owns; None if rows are copied along it."""
    if isinstance(axis, KeyAxis) and rows.stream in axis.keys:
        if any(route.split != rows.stream for route in routes):
            return None
        codes = key_codes(axis, rows)
        return _in_turn(_mixed(codes, axis.size), codes, axis.size, rows, routes)
    if isinstance(axis, StreamAxis) and rows.stream == axis.stream:
        if axis.together:
            return _mixed(derive(Group(axis.together), rows.columns, rows.length)[0], axis.size)
        return (np.arange(rows.length) + rows.position) % axis.size
    return None


def _in_turn(home: Integers, codes: Integers, size: int, rows: Rows, routes: Sequence[Route]) -> Integers:
    """The coordinates of a split stream's rows: their own, or those of their routes one after the other."""
    for route in routes:
        found = np.flatnonzero(_on_route(codes, rows, route.code, route.dealt))
        home[found] = (home[found] + (rows.position + np.arange(len(found))) % min(route.width, size)) % size
    return home


def _on_route(codes: Integers, rows: Rows, code: int, between: tuple[int, int]) -> npt.NDArray[np.bool_]:
    assert rows.times is not None, "who gives routes gives times"
    found: npt.NDArray[np.bool_] = (codes == code) & (rows.times >= between[0]) & (rows.times < between[1])
    return found


def _copied_along(axis: KeyAxis, rows: Rows, routes: Sequence[Route]) -> tuple[Integers, Integers]:
    """As ``_coordinates``, for an owner of the axis: those of their routes, or their own."""
    codes, copies = key_codes(axis, rows), np.ones(rows.length, np.int64)
    for route in routes:
        found = _on_route(codes, rows, route.code, route.copied)
        copies[found] = np.maximum(copies[found], min(route.width, axis.size))
    row, _, nth = _copied(None, None, copies)
    return copies, (_mixed(codes, axis.size)[row] + nth) % axis.size


def _coordinates(axis: Axis, rows: Rows, routes: Sequence[Route]) -> tuple[Integers, Integers]:
    """How many coordinates each row has, and all of them, row after row."""
    if isinstance(axis, KeyAxis) and rows.stream in axis.keys:
        return _copied_along(axis, rows, routes)
    if isinstance(axis, RangeAxis) and rows.stream in axis.reaches:
        return _ranges(axis, rows)
    return np.full(rows.length, axis.size), np.tile(np.arange(axis.size), rows.length)


def key_codes(axis: KeyAxis, rows: Rows) -> Integers:
    """The codes of the rows' keys on an axis that their stream owns; 0 for those that equal nothing."""
    codes, valid = derive(Key(axis.keys[rows.stream]), rows.columns, rows.length)
    return codes.astype(np.int64, copy=False) if valid is None else np.where(valid, codes, 0)


def _ranges(axis: RangeAxis, rows: Rows) -> tuple[Integers, Integers]:
    """The ranges at both ends of the reach: it is never wider than a range, so none lies between.

    The anchor's own range is exact; the others' reach is widened by what a subtraction of floats may round away.
    """
    low, high = _low_and_high(axis, rows)
    copies = 1 + (low != high)
    both = np.stack([low, high], axis=1).reshape(-1)
    return copies, both[np.stack([np.full(rows.length, True), low != high], axis=1).reshape(-1)]


def _low_and_high(axis: RangeAxis, rows: Rows) -> tuple[Integers, Integers]:
    """The coordinates of both ends of each row's reach."""
    reach = axis.reaches[rows.stream]
    values, valid = derive(Number(reach.expression), rows.columns, rows.length)
    if valid is not None:
        values = np.where(valid, values, 0)
    low, high = (_mixed(end, axis.size) for end in _ends(values, reach, axis.width))
    return low, high


def _ends(values: npt.NDArray[Any], reach: Reach, width: float) -> tuple[Integers, Integers]:
    if values.dtype == np.int64:
        return _whole_end(values, int(reach.low), int(width)), _whole_end(values, int(reach.high), int(width))
    rounding = 4 * np.finfo(np.float64).eps * (np.abs(values) + abs(reach.low) + abs(reach.high))
    slack = rounding if reach.low < reach.high else np.zeros(len(values))
    with np.errstate(invalid="ignore"):  # infinities lie in the farthest range, and perhaps in another too
        return _float_end(values + reach.low - slack, width), _float_end(values + reach.high + slack, width)


def _whole_end(values: Integers, shift: int, width: int) -> Integers:
    """The range of value + shift, without overflow at either end of int64."""
    ranges, within = np.divmod(values, width)
    end: Integers = ranges + (within + shift) // width
    return end


def _float_end(values: npt.NDArray[np.float64], width: float) -> Integers:
    numbers = np.nan_to_num(np.floor(values / width), nan=0.0)
    end: Integers = np.clip(numbers, -_FARTHEST, _FARTHEST).astype(np.int64)
    return end


def _mixed(codes: npt.NDArray[np.generic], size: int) -> Integers:
    """Codes spread over 0..size-1."""
    coordinates: Integers = spread(codes.astype(np.int64, copy=False), size)
    return coordinates
