"""Collations of text columns: how Spark would compare them, where that is not by bytes.

Arrow has no type for them, so the name of one is noted in the metadata of the column's field.
"""

import pyarrow as pa

BY_BYTES = "UTF8_BINARY"  # Spark's name for the only order that Dovetail knows
_KEY = b"collation"


def as_metadata(collation: str) -> dict[bytes, bytes] | None:
    """What is noted beside the type of a column; nothing if it is compared by bytes."""
    return None if collation == BY_BYTES else {_KEY: collation.encode()}


def collation_of(field: pa.Field) -> str | None:
    """The collation of a column; None if it is compared by bytes."""
    noted = (field.metadata or {}).get(_KEY)
    return None if noted is None else noted.decode()
