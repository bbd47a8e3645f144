"""Which Arrow types may meet, and in which type they do.

    int32, int64      ->   int64            string, large_string      ->   large_string
    int64, double     ->   double           date32, timestamp[us]     ->   timestamp[us]
    uint64, int64     ->   decimal(20, 0)   string, double            ->   nothing: they cannot be compared

Timestamps meet in the finer unit; a time without zone is UTC.
"""

import pyarrow as pa

_UNITS = ("s", "ms", "us", "ns")
_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def plain_type(type: pa.DataType) -> pa.DataType:
    """The type a column is used in: encodings and views become the types that Arrow computes with."""
    if pa.types.is_dictionary(type) or pa.types.is_run_end_encoded(type):
        return plain_type(type.value_type)
    if pa.types.is_decimal32(type) or pa.types.is_decimal64(type):
        return pa.decimal128(type.precision, type.scale)
    return _PLAIN.get(type, type)


_PLAIN = {
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
}


def is_text(type: pa.DataType) -> bool:
    """Texts, short or large offsets."""
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type))


def is_bytes(type: pa.DataType) -> bool:
    """Binary values."""
    return bool(pa.types.is_binary(type) or pa.types.is_large_binary(type) or pa.types.is_fixed_size_binary(type))


def is_number(type: pa.DataType) -> bool:
    """Integers, floats and decimals."""
    return bool(pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type))


def is_instant(type: pa.DataType) -> bool:
    """Dates and timestamps."""
    return bool(pa.types.is_date(type) or pa.types.is_timestamp(type))


def is_vector(type: pa.DataType) -> bool:
    """Lists of numbers."""
    listed = pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type)
    return listed and is_number(plain_type(type.value_type))


def vector_type(type: pa.DataType) -> pa.DataType:
    """The same vector with float64 elements."""
    if pa.types.is_fixed_size_list(type):
        return pa.list_(pa.float64(), type.list_size)
    return pa.large_list(pa.float64()) if pa.types.is_large_list(type) else pa.list_(pa.float64())


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type in which both can be compared without loss; None if there is none."""
    if left == right:
        return None if pa.types.is_nested(left) else left
    if pa.types.is_null(left) or pa.types.is_null(right):
        return right if pa.types.is_null(left) else left
    if is_number(left) and is_number(right):
        return _common_number(left, right)
    if is_text(left) and is_text(right):
        return pa.large_string()
    if is_bytes(left) and is_bytes(right):
        return pa.large_binary() if pa.large_binary() in (left, right) else pa.binary()
    if is_instant(left) and is_instant(right):
        return _common_instant(left, right)
    return _common_span(left, right)


def _common_number(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(left) or pa.types.is_floating(right):
        return pa.float64()
    if pa.types.is_decimal(left) or pa.types.is_decimal(right):
        return _common_decimal(as_decimal(left), as_decimal(right))
    if pa.uint64() not in (left, right):
        return pa.int64()
    signed = pa.types.is_signed_integer(left) or pa.types.is_signed_integer(right)
    return pa.decimal128(20, 0) if signed else pa.uint64()


def as_decimal(type: pa.DataType) -> pa.DataType:
    """The decimal that holds every value of an integer type; a decimal is left alone."""
    return type if pa.types.is_decimal(type) else pa.decimal128(_INTEGER_DIGITS[type.bit_width], 0)


def _common_decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    scale = max(left.scale, right.scale)
    precision = max(left.precision - left.scale, right.precision - right.scale) + scale
    if precision > 76:
        return pa.float64()
    return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)


def _common_instant(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    times = [type for type in (left, right) if pa.types.is_timestamp(type)]
    zones = {type.tz for type in times if type.tz}
    return pa.timestamp(_finer(times), tz=None if not zones else zones.pop() if len(zones) == 1 else "UTC")


def _common_span(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if pa.types.is_duration(left) and pa.types.is_duration(right):
        return pa.duration(_finer([left, right]))
    if pa.types.is_time(left) and pa.types.is_time(right):
        return pa.time64("ns" if "ns" in (left.unit, right.unit) else "us")
    return None


def _finer(types: list[pa.DataType]) -> str:
    units: list[str] = [type.unit for type in types]
    return max(units, key=_UNITS.index)


def keyable(type: pa.DataType) -> bool:
    """Whether an index can be built over values of this type."""
    simple = is_number(type) or is_text(type) or is_bytes(type) or is_instant(type)
    return simple or pa.types.is_boolean(type) or pa.types.is_duration(type) or pa.types.is_time(type)
