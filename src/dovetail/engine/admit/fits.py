"""Which types of values may become which: only where no value could be misread on the way.

    int64 -> float64, decimal        yes, if each value fits
    float64 -> int64                 yes, if each value is whole: 2.0 is, 1.5 is not
    text -> number, time             if it can be parsed; times as ISO 8601, with an offset if the column has a zone
    number -> timestamp              no: a number has no unit
    with a zone <-> without one      no: nobody says which zone

Arrow alone would take all of these, and cut 1.5 to 1.
"""

import pyarrow as pa

_BECOMES = {
    "truth value": {"truth value"},
    "whole number": {"whole number", "float", "decimal"},
    "float": {"float", "whole number"},
    "decimal": {"decimal", "float", "whole number"},
    "bytes": {"bytes"},
    "time": {"time"},
    "date": {"date", "time"},
}
_TESTS = {
    "truth value": pa.types.is_boolean,
    "whole number": pa.types.is_integer,
    "float": pa.types.is_floating,
    "decimal": pa.types.is_decimal,
    "time": pa.types.is_timestamp,
    "date": pa.types.is_date,
}
_BYTES = (pa.binary(), pa.large_binary(), pa.binary_view())
_TEXT = (pa.string(), pa.large_string(), pa.string_view())
_NO_UNIT = (
    "a number has no unit; give datetimes, or cast the column, for example with "
    "pyarrow.compute.cast(column, pyarrow.timestamp('ms'))"
)
_NUMBERS = ("whole number", "float", "decimal")


def why_not(found: pa.DataType, wanted: pa.DataType) -> str | None:
    """Why values of one type must not become another; None if Arrow may try, value by value.

    >>> why_not(pa.int64(), pa.float64()), why_not(pa.binary(), pa.string())
    (None, 'bytes are not text; decode them first')
    """
    found = found.value_type if pa.types.is_dictionary(found) or pa.types.is_run_end_encoded(found) else found
    if is_list(found) and is_list(wanted):
        return why_not(found.value_type, wanted.value_type)
    kind, needed = kind_of(found), kind_of(wanted)
    if kind not in _BECOMES:
        return None
    if needed in _BECOMES[kind]:
        return _zones(kind, found, wanted) if needed == "time" else None
    return _reason(kind, needed)


def is_list(type_: pa.DataType) -> bool:
    """Lists of any and of fixed length."""
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_))


def kind_of(type_: pa.DataType) -> str:
    """The word for a family of types; "other" where Arrow's own rules are good enough."""
    if type_ in _BYTES or pa.types.is_fixed_size_binary(type_):
        return "bytes"
    if type_ in _TEXT:
        return "text"
    return next((word for word, is_one in _TESTS.items() if is_one(type_)), "other")


def _zones(kind: str, found: pa.DataType, wanted: pa.DataType) -> str | None:
    zoned = kind == "time" and found.tz is not None
    if zoned and wanted.tz is None:
        return "the column has times without a zone; convert it to the zone you mean and take the zone off"
    if not zoned and wanted.tz is not None:
        return "the column has times with a zone; say in which zone it is"
    return None


def _reason(kind: str, needed: str) -> str:
    if needed == "time" and kind in _NUMBERS:
        return _NO_UNIT
    if kind == "bytes" and needed == "text":
        return "bytes are not text; decode them first"
    if kind == "float" and needed == "decimal":
        return "a float is not exact; round it to a decimal first"
    return f"a {kind} is not {needed if needed in ('text', 'bytes') else f'a {needed}'}; convert it first"
