"""Cells of a scenario table: text to values of a column's type, times in seconds.

>>> [read_cell(text, pa.int64()) for text in ("7", "NULL")], read_cell("[1 2]", TYPES["vector"])
([7, None], [1.0, 2.0])
"""

from typing import Any

import pyarrow as pa

TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "string": pa.string(),
    "bool": pa.bool_(),
    "vector": pa.list_(pa.float64()),
    "time": pa.timestamp("us"),
}


def read_cell(text: str, type_: pa.DataType) -> Any:
    """The value a cell stands for."""
    if text == "NULL":
        return None
    if text == "":
        raise ValueError("an empty cell where a value is needed; write NULL if that is meant")
    if pa.types.is_timestamp(type_):
        return pa.scalar(seconds_us(text), pa.int64()).cast(type_).as_py()
    if pa.types.is_list(type_):
        return [float(part) for part in text.strip("[]").split()]
    if pa.types.is_string(type_):
        return "" if text == "''" else text
    if pa.types.is_boolean(type_):
        return {"true": True, "false": False}[text.lower()]
    return pa.scalar(text).cast(type_).as_py() if pa.types.is_integer(type_) else float(text)


def seconds_us(text: str) -> int:
    """Microseconds of a number of seconds; fractions are allowed."""
    return round(float(text) * 1_000_000)
