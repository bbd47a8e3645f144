"""A conversion of whole columns that may fail for some values: those become NULL, and the others are done."""

from collections.abc import Callable

import pyarrow as pa

Conversion = Callable[[pa.Array], pa.Array]


def null_where_invalid(convert: Conversion, values: pa.Array, target: pa.DataType) -> pa.Array:
    """The whole column at once; only if that fails are its distinct values halved until the bad ones stand alone."""
    try:
        return convert(values)
    except pa.ArrowInvalid:
        if pa.types.is_nested(values.type):
            return _halved(convert, values, target)
    encoded = values.dictionary_encode()
    return _halved(convert, encoded.dictionary, target).take(encoded.indices)


def _halved(convert: Conversion, values: pa.Array, target: pa.DataType) -> pa.Array:
    try:
        return convert(values)
    except pa.ArrowInvalid:
        if len(values) == 1:
            return pa.nulls(1, target)
    middle = len(values) // 2
    return pa.concat_arrays([_halved(convert, values[:middle], target), _halved(convert, values[middle:], target)])
