"""Which types have an order: rows of an as-of stream that share a time are compared by such columns."""

import pyarrow as pa
from pyarrow import types

_ORDERED = (
    types.is_boolean,
    types.is_integer,
    types.is_floating,
    types.is_decimal,
    types.is_temporal,
    types.is_string,
    types.is_large_string,
    types.is_binary,
    types.is_large_binary,
    types.is_fixed_size_binary,
)


_LISTED = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_map)


def is_listed(type_: pa.DataType) -> bool:
    """Whether values are lists of others; a map is one of its entries."""
    return any(test(type_) for test in _LISTED)


def orderable(type_: pa.DataType) -> bool:
    """Whether values of this type can be put in order: a list or a structure if those in it can.

    >>> orderable(pa.list_(pa.string())), orderable(pa.month_day_nano_interval())
    (True, False)
    """
    if is_listed(type_) or types.is_struct(type_):
        inside = [type_.field(at).type for at in range(type_.num_fields)]
        return bool(inside) and all(map(orderable, inside))
    return any(test(type_) for test in _ORDERED) and not types.is_interval(type_)
