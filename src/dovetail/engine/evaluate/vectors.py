"""Inner products and cosines of vectors, row by row, in float64 and in one fixed order of additions.

The order is fixed so that a value never depends on how rows are cut into batches:

    inner_products([[1, 2]], [[3, 4]])   ->   (0 + 1*3) + 2*4 = 11

A vector that is NULL or holds NULL, and vectors of unequal lengths, give NULL; so does the cosine of a zero vector.
"""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dovetail.engine.kernels.products import divide_by_norms, sum_products


class Vectors(NamedTuple):
    """A column of vectors as flat values; vector i is ``values[start[i] : start[i] + size[i]]``, if ``known[i]``."""

    values: np.ndarray[Any, Any]
    start: np.ndarray[Any, Any]
    size: np.ndarray[Any, Any]
    known: np.ndarray[Any, Any]


def inner_products(arguments: list[pa.Array], length: int) -> pa.Array:
    """The inner product of two columns of vectors."""
    left, right, known = _pair(arguments)
    result = np.zeros(length)
    sum_products(left.values, left.start, right.values, right.start, left.size, known, result)
    return pa.array(result, mask=~known)


def cosine_similarities(arguments: list[pa.Array], length: int) -> pa.Array:
    """The cosine of the angle between two columns of vectors."""
    left, right, known = _pair(arguments)
    result = np.zeros(length)
    divide_by_norms(left.values, left.start, right.values, right.start, left.size, known, result)
    return pa.array(result, mask=~known)


def _pair(arguments: list[pa.Array]) -> tuple[Vectors, Vectors, np.ndarray[Any, Any]]:
    left, right = flat_vectors(arguments[0]), flat_vectors(arguments[1])
    return left, right, left.known & right.known & (left.size == right.size)


def flat_vectors(column: pa.Array) -> Vectors:
    """The flat form of a list or fixed-size list column of float64."""
    start, size = _extents(column)
    values = column.values
    known = np.ones(len(column), bool) if column.null_count == 0 else column.is_valid().to_numpy(zero_copy_only=False)
    if values.null_count:
        nulls = np.concatenate(([0], np.cumsum(values.is_null().to_numpy(zero_copy_only=False))))
        known = known & (nulls[start + size] == nulls[start])
    return Vectors(values.to_numpy(zero_copy_only=False), start, size, known)


def _extents(column: pa.Array) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if isinstance(column, pa.FixedSizeListArray):
        width = column.type.list_size
        start = (np.arange(len(column), dtype=np.int64) + column.offset) * width
        return start, np.full(len(column), width, np.int64)
    offsets = column.offsets.to_numpy().astype(np.int64)
    return offsets[:-1], np.diff(offsets)
