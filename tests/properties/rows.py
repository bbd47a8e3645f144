"""Rows of random streams: small domains, so that many things meet, with every kind of oddity among them.

Every stream has the same columns: an int, a text, a float, a vector, and one whose type is drawn per query.
"""

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

VECTOR = pa.list_(pa.float64(), 2)

# Values of the drawn column: the first two are equal in no type, the last is NULL.
KEYS: dict[pa.DataType, list[Any]] = {
    pa.int32(): [1, -1, None],
    pa.uint8(): [1, 255, None],
    pa.bool_(): [True, False, None],
    pa.date32(): [date(2024, 2, 29), date(1969, 12, 31), None],
    pa.timestamp("ms"): [datetime(2024, 2, 29, 1), datetime(1960, 1, 1), None],
    pa.decimal128(10, 2): [Decimal("1.50"), Decimal("-0.01"), None],
    pa.decimal128(38, 0): [Decimal(10**37), Decimal(-(10**37)), None],
    pa.binary(): [b"", b"\x00", None],
    pa.large_string(): ["", "\u00e9\u00e8", None],
    pa.float32(): [0.5, math.nan, None],
}

INTS = [0, 1, 2, 3, 1, 2, None, -1]
BIG_INTS = [0, 1, 2**63 - 1, -(2**63), 2**62, None]
TEXTS = ["a", "b", "", "a", None, "ab"]
FLOATS = [0.0, 1.0, 0.5, 1.5, -1.0, -0.0, math.nan, None, math.inf, -math.inf]
VECTORS = [[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [-1.0, 1.0], [0.0, 0.0], [2.0, 1.0], None]


def schema(key: pa.DataType) -> pa.Schema:
    return pa.schema(
        {"ts": pa.timestamp("us"), "i": pa.int64(), "s": pa.string(), "x": pa.float64(), "v": VECTOR, "j": key}
    )


def values(key: pa.DataType, extreme: bool) -> st.SearchStrategy[tuple[Any, ...]]:
    """One row without its time, drawn as one number whose digits are places in the domains: far quicker than five."""
    domains: list[list[Any]] = [BIG_INTS if extreme else INTS, TEXTS, FLOATS, VECTORS, KEYS[key]]
    return st.integers(0, math.prod(map(len, domains)) - 1).map(lambda number: _decoded(number, domains))


def _decoded(number: int, domains: list[list[Any]]) -> tuple[Any, ...]:
    row = []
    for domain in domains:
        number, place = divmod(number, len(domain))
        row.append(domain[place])
    return tuple(row)


def table(rows: list[tuple[Any, ...]], columns: pa.Schema) -> pa.Table:
    """Rows (with their time in microseconds) as a table."""
    arrays = [pa.array([row[place] for row in rows], field.type) for place, field in enumerate(columns)]
    return pa.table(arrays, columns)
