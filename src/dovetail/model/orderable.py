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


def orderable(type_: pa.DataType) -> bool:
    """Whether values of this type can be put in order.

    >>> orderable(pa.string()), orderable(pa.list_(pa.int64()))
    (True, False)
    """
    return any(test(type_) for test in _ORDERED) and not types.is_interval(type_)
