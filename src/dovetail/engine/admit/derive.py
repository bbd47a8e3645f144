"""From Arrow columns to the numbers that kernels compare.

    Key      int, date, timestamp, boolean, float, short decimal    the value itself, 64 bits
             string, binary, long decimal, several columns          a 64-bit hash; equality is verified at the exit
    Number   int64 or float64
    Vector   a row of a float64 matrix
    Option   as Key; NULL and NaN become codes that nothing else has

NULL and NaN never match anything, so beside the numbers comes which rows can match at all.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.block.arrow_values import bare_values, bits, layout, text_buffers, values_of
from dovetail.engine.evaluate.compiled import compiled
from dovetail.engine.kernels import combine_codes, hash_bytes
from dovetail.model.expression import Column, Expression
from dovetail.plan.levels import is_exact
from dovetail.plan.physical import Attribute, Group, Key, Number, Option

Columns = Mapping[tuple[str, str], pa.Array]
Array = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]
_INT64, _ENDS = np.dtype(np.int64), np.iinfo(np.int64)


def derive(attribute: Attribute, columns: Columns, length: int, width: int = 0) -> tuple[Array, Flags | None]:
    """The attribute's numbers, and which rows have one (None: all of them); ``width`` is that of vectors, if known."""
    if isinstance(attribute, Key):
        return _key(attribute.expressions, columns, length)
    if isinstance(attribute, Option):
        return _option(attribute.expressions, columns, length), None
    if isinstance(attribute, Group):
        return _group(attribute.expressions, columns, length), None
    array = _column(attribute.expression, columns, length)
    if isinstance(attribute, Number):
        return numbers(array)
    return _matrix(array, width)


def _column(expression: Expression, columns: Columns, length: int) -> pa.Array:
    if isinstance(expression, Column):
        return columns[expression.stream, expression.name]
    return compiled(expression)(columns, length)


def _group(expressions: tuple[Expression, ...], columns: Columns, length: int) -> Array:
    """NULL is like NULL and NaN like NaN here, and the two are not alike."""
    group = np.zeros(length, np.int64)
    for expression in expressions:
        array = _column(expression, columns, length)
        codes, usable = key_codes(array)
        present = valid_rows(array)
        kind = np.zeros(length, np.int64) if present is None else (~present).astype(np.int64)
        if usable is not None:
            kind[~usable] += 1
        group = combine_codes(combine_codes(group, kind), np.where(kind == 0, codes, 0))
    return group


def _option(expressions: tuple[Expression, ...], columns: Columns, length: int) -> Array:
    """Rows that cannot match by these may still match by others, so they are kept under a code drawn for each."""
    codes, valid = _key(expressions, columns, length)
    if valid is None:
        return codes
    return np.where(valid, codes, np.random.default_rng().integers(_ENDS.min, _ENDS.max, length))


def _key(expressions: tuple[Expression, ...], columns: Columns, length: int) -> tuple[Array, Flags | None]:
    codes, valid = key_codes(_column(expressions[0], columns, length))
    for expression in expressions[1:]:
        more, more_valid = key_codes(_column(expression, columns, length))
        codes, valid = combine_codes(codes, more), both(valid, more_valid)
    return codes, valid


def key_codes(array: pa.Array) -> tuple[npt.NDArray[np.int64], Flags | None]:
    """One 64-bit code per value; equal values always have equal codes."""
    type_ = array.type
    if pa.types.is_int64(type_):
        return bare_values(array, False, _INT64, 1), valid_rows(array)
    if pa.types.is_floating(type_):
        values, valid = numbers(array.cast(pa.float64()))
        return (values + 0.0).view(np.int64), valid  # -0.0 + 0.0 is 0.0
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return hash_bytes(*text_buffers(array)), valid_rows(array)
    if pa.types.is_large_string(type_) or pa.types.is_large_binary(type_):
        return hash_bytes(*text_buffers(array)), valid_rows(array)
    if layout(type_) is None:
        return key_codes(array.cast(pa.binary()))
    return _fixed_codes(values_of(array), is_exact(type_)), valid_rows(array)


def _fixed_codes(values: Array, exact: bool) -> npt.NDArray[np.int64]:
    if values.ndim == 1:
        return np.ascontiguousarray(values.astype(np.int64, copy=False))
    if values.dtype == np.int64:
        codes = np.ascontiguousarray(values[:, 0])
        # the high words of a short decimal only repeat the sign
        for word in range(1, 1 if exact else values.shape[1]):
            codes = combine_codes(codes, np.ascontiguousarray(values[:, word]))
        return codes
    width = values.shape[1]
    offsets = np.arange(len(values) + 1, dtype=np.int64) * width
    hashes: npt.NDArray[np.int64] = hash_bytes(offsets, np.ascontiguousarray(values).reshape(-1))
    return hashes


def numbers(array: pa.Array) -> tuple[Array, Flags | None]:
    """The values of a column, and which of them can match (None: all): not NULL, not NaN."""
    values = values_of(array)
    valid = valid_rows(array)
    if values.dtype.kind == "f":
        missing = np.isnan(values)
        valid = both(valid, ~missing) if missing.any() else valid
    return values, valid


def _matrix(array: pa.Array, width: int) -> tuple[Array, Flags | None]:
    """Vectors as rows; a NULL, a NULL or NaN item, or a length unlike the stream's first vector, cannot match."""
    if pa.types.is_fixed_size_list(array.type):
        lengths = np.full(len(array), array.type.list_size)
    else:
        lengths = pc.fill_null(pc.list_value_length(array), -1).to_numpy(zero_copy_only=False)
    present = valid_rows(array)
    usable = lengths if present is None else lengths[present]
    width = width or (int(usable[0]) if len(usable) else 0)
    fits = both(present, lengths == width)
    assert fits is not None
    items = pc.list_flatten(array.filter(pa.array(fits))).cast(pa.float64())
    numbers = items.to_numpy(zero_copy_only=False).reshape(-1, width) if width else np.empty((int(fits.sum()), 0))
    matrix = np.zeros((len(array), width))
    matrix[fits] = numbers
    fits = fits & ~np.isnan(matrix).any(axis=1)
    return matrix, fits


def valid_rows(array: pa.Array) -> Flags | None:
    """Which rows are not NULL; None if all are not."""
    if not array.null_count:
        return None
    return bits(array.buffers()[0], array.offset, len(array)).view(np.bool_)


def both(left: Flags | None, right: Flags | None) -> Flags | None:
    """Rows that are in both; None stands for all."""
    if left is None or right is None:
        return right if left is None else left
    return left & right
