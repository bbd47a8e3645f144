"""The operator's state variables, declared by name and type.

Spark's driver asks for them in a process of its own whenever a query starts, so this must be quick to import.
"""

from dataclasses import dataclass

from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle, ValueState
from pyspark.sql.types import StructType

# types, not text: Spark would ask its Java side to parse a text, for every bucket of every batch
_HEAD = (
    StructType().add("token", "string").add("fingerprint", "string").add("header", "binary").add("lineage", "string")
)
_ORIGIN = StructType().add("query", "string")
_SLICE, _BLOB = StructType().add("section", "string").add("number", "long"), StructType().add("blob", "binary")
_PART = StructType().add("number", "long")


@dataclass(frozen=True)
class Variables:
    """See ``state`` for what is in them; ``parts`` only where rows may be spilled."""

    head: ValueState
    origin: ValueState
    slices: MapState
    parts: MapState | None


def state_variables(handle: StatefulProcessorHandle, spills: bool) -> Variables:
    """All that a bucket keeps."""
    return Variables(
        handle.getValueState("head", _HEAD),
        handle.getValueState("origin", _ORIGIN),
        handle.getMapState("slices", _SLICE, _BLOB),
        handle.getMapState("parts", _PART, _BLOB) if spills else None,
    )
