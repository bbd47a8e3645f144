"""One bucket's state in Spark's state store: slices under (section, number), and one head.

head:    token, fingerprint, header, lineage       rewritten by every batch; small
slices:  ("window/T", 12) -> blob                  written once, deleted when the last tuple has expired
parts:   7 -> blob                                 spilled rows, read only when they are joined
origin:  the query as text                         written by the first batch; read to explain a mix-up
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

import pyarrow as pa

from dovetail.engine.buffer.slices import Changes, SliceKey
from dovetail.engine.snapshot import batch_from_bytes, batch_to_bytes
from dovetail.errors import StateError
from dovetail.runtime.spark.blob import owned
from dovetail.runtime.spark.lineage import Lineage, Step
from dovetail.runtime.spark.variables import Variables


@dataclass(frozen=True)
class Head:
    """What every batch reads first and writes last."""

    token: str
    fingerprint: str
    header: bytes
    lineage: Lineage


class BucketState:
    """What is read from the state variables and written; the bucket they speak of is the one Spark is calling for."""

    def __init__(self, variables: Variables) -> None:
        self._head = variables.head
        self._origin = variables.origin
        self._slices = variables.slices
        self.parts = variables.parts

    def head(self, fingerprint: str, description: str) -> Head | None:
        """The head if there is one; StateError if another query wrote it."""
        row = self._head.get()
        if row is None:
            return None
        token, written_by, header, lineage = row
        if written_by != fingerprint:
            (origin,) = self._origin.get() or ("unknown",)
            raise StateError(
                f"this checkpoint belongs to another query.\nIt was written by:\n{origin}\n"
                f"This query is:\n{description}\n"
                "Give this query a checkpoint location of its own, or run the query that wrote this one. If only the "
                "cells differ, set join(..., partitions=) to as many as there were."
            )
        return Head(token, written_by, bytes(header), Lineage.from_text(lineage))

    def save(self, before: Head | None, fingerprint: str, description: str, changes: Changes) -> tuple[str, int]:
        """Write what a batch changed; returns the new token and the bytes written."""
        sums: list[tuple[SliceKey, int, int]] = []
        for key, batch in changes.new.items():
            blob = batch_to_bytes(batch)
            sums.append((key, len(blob), crc32(blob)))
            self._slices.updateValue(key, (blob,))
        for key in changes.gone:
            self._slices.removeKey(key)
        if before is None:
            self._origin.update((description,))
        step = Step(before.token if before else "", tuple(changes.new), tuple(changes.gone))
        lineage = (before.lineage if before else Lineage()).after(step)
        token = self._token(step, sums, changes.header)
        self._head.update((token, fingerprint, changes.header, lineage.to_text()))
        return token, sum(size for _, size, _ in sums) + len(changes.header)

    def _token(self, step: Step, sums: list[tuple[SliceKey, int, int]], header: bytes) -> str:
        """Equal for attempts that wrote the same over the same; spilled parts are not looked at, so chance decides."""
        if self.parts is not None:
            return secrets.token_hex(8)
        return sha256(json.dumps([step.before, step.gone, sums]).encode() + header).hexdigest()[:16]

    def load(self, keys: Iterable[SliceKey]) -> dict[SliceKey, pa.RecordBatch]:
        """Some of the slices."""
        found = {key: self._slices.getValue(key) for key in keys}
        lost = [key for key, value in found.items() if value is None]
        if lost:
            raise StateError(f"the checkpoint lacks slices that its head names: {lost}; restore it from a copy")
        return {key: _slice(value[0]) for key, value in found.items() if value is not None}

    def load_all(self) -> Mapping[SliceKey, pa.RecordBatch]:
        """Every slice."""
        return {(section, number): _slice(value[0]) for (section, number), value in self._slices.iterator()}


def _slice(blob: bytes) -> pa.RecordBatch:
    return owned([batch_from_bytes(blob)])
