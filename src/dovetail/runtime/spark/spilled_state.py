"""Spilled parts on Spark: rows that are in the state store and not in the worker.

What an engine flushes is written to the bucket's own state within the batch, so it is committed or forgotten with it,
and a worker that takes the bucket over reads a part only when it is joined. Nothing goes to the worker's disk.
"""

from typing import Any

import pyarrow as pa

from dovetail.engine.buffer.sealed import seal_batch, unseal_batch
from dovetail.errors import StateError
from dovetail.runtime.spark.blob import owned


class StateParts:
    """Parts in a map of the state store; which map it is changes with every batch."""

    is_state = True

    def __init__(self) -> None:
        self._parts: Any = None

    def bind(self, parts: Any) -> None:
        """From now on, the parts of the bucket that Spark is calling for."""
        self._parts = parts

    def write(self, number: int, rows: pa.RecordBatch) -> None:
        self._parts.updateValue((number,), (seal_batch(rows, _named(number)),))

    def read(self, number: int) -> pa.RecordBatch:
        found = self._parts.getValue((number,))
        if found is None:
            raise StateError(f"the checkpoint lacks spilled part {number} that its head names; restore it from a copy")
        return owned([unseal_batch(bytes(found[0]), _named(number))])

    def delete(self, number: int) -> None:
        self._parts.removeKey((number,))

    def close(self) -> None:
        """They go with the state."""


def _named(number: int) -> str:
    return f"spilled part {number} in the checkpoint"
