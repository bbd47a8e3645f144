"""One bucket's state in Spark's state store: slices under (section, number), and one head.

head:    token, fingerprint, header, lineage       rewritten by every batch; small
slices:  ("window/T", 12) -> blob                  written once, deleted when the last tuple has expired
parts:   7 -> blob                                 spilled rows, read only when they are joined
origin:  the query as text                         written by the first batch; read to explain a mix-up

Slices, parts and the header carry checksums; that of the header covers the rest of the head.
"""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import pyarrow as pa

from dovetail.engine.buffer.sealed import checksum_of, seal, seal_batch, unseal, unseal_batch
from dovetail.engine.buffer.section import Changes, SliceKey
from dovetail.errors import StateError
from dovetail.runtime.spark.blob import owned
from dovetail.runtime.spark.left_files import LeftSlices
from dovetail.runtime.spark.lineage import Lineage, StateChange
from dovetail.runtime.spark.variables import Variables

STATE = "state"  # the column of an initial state that holds the part of a bucket
_HEAD = "the head of a bucket in the checkpoint"


@dataclass(frozen=True)
class Head:
    """What every batch reads first and writes last."""

    token: str
    fingerprint: str
    header: bytes
    lineage: Lineage


class BucketState:
    """What is read from the state variables and written; the bucket they speak of is the one Spark is calling for."""

    def __init__(self, variables: Variables, left: LeftSlices | None = None) -> None:
        self._left = left
        self._head = variables.head
        self._origin = variables.origin
        self._slices = variables.slices
        self.parts = variables.parts

    def head(self, fingerprints: Sequence[str], description: str) -> Head | None:
        """The head if there is one; StateError if another query wrote it, under none of these fingerprints."""
        row = self._head.get()
        if row is None:
            return None
        token, written_by, header, text = row
        own, lineage = read_head(token, bytes(header), text)
        if written_by not in fingerprints:
            (origin,) = self._origin.get() or ("unknown",)
            raise StateError(
                f"this checkpoint belongs to another query.\nIt was written by:\n{origin}\n"
                f"This query is:\n{description}\n"
                "Give this query a checkpoint location of its own, or run the query that wrote this one. If only the "
                "cells differ, set join(..., partitions=) to as many as there were."
            )
        return Head(token, written_by, own, lineage)

    def save(self, before: Head | None, fingerprint: str, description: str, changes: Changes) -> tuple[str, int]:
        """Write what a batch changed; returns the new token and the bytes written."""
        blobs = {key: seal_batch(batch, _named(key)) for key, batch in changes.new.items()}
        sums = [(key, len(blob), checksum_of(blob)) for key, blob in blobs.items()]
        for key, blob in blobs.items():
            self._slices.updateValue(key, (blob,))
        for key in changes.gone:
            self._slices.removeKey(key)
        if before is None:
            self._origin.update((description,))
        step = StateChange(before.token if before else "", tuple(changes.new), tuple(changes.gone))
        lineage = (before.lineage if before else Lineage()).after(step)
        token, text = self._token(step, sums, changes.header), lineage.to_text()
        self._head.update((token, fingerprint, seal(changes.header, _HEAD, token + text), text))
        if self._left is not None and blobs:
            self._left.leave(token, list(blobs.values()), lineage)
        return token, sum(size for _, size, _ in sums) + len(changes.header)

    def _token(self, step: StateChange, sums: list[tuple[SliceKey, int, int]], header: bytes) -> str:
        """Equal for attempts that wrote the same over the same; spilled parts are not looked at, so chance decides."""
        if self.parts is not None:
            return secrets.token_hex(8)
        return sha256(json.dumps([step.before, step.gone, sums]).encode() + header).hexdigest()[:16]

    def load(self, keys: Iterable[SliceKey], head: Head) -> dict[SliceKey, pa.RecordBatch]:
        """Some of the slices that there are at a head."""
        near: dict[SliceKey, pa.Buffer] = {}
        if self._left is not None:
            for token, written in head.lineage.written(head.token):
                near |= zip(written, self._left.found(token), strict=False)
        found = {key: (near[key],) if key in near else self._slices.getValue(key) for key in keys}
        lost = [key for key, value in found.items() if value is None]
        if lost:
            raise StateError(f"the checkpoint lacks slices that its head names: {lost}; restore it from a copy")
        return {key: read_slice(key, value[0]) for key, value in found.items() if value is not None}

    def load_all(self) -> Mapping[SliceKey, pa.RecordBatch]:
        """Every slice."""
        found = (((section, number), value[0]) for (section, number), value in self._slices.iterator())
        return {key: read_slice(key, blob) for key, blob in found}


def read_head(token: str, header: bytes, lineage: str) -> tuple[bytes, Lineage]:
    """The header as its operator wrote it, and the lineage; StateError if any of the three was changed or is newer."""
    return bytes(unseal(header, _HEAD, token + lineage).to_pybytes()), Lineage.from_text(lineage)


def read_slice(key: SliceKey, blob: bytes | pa.Buffer) -> pa.RecordBatch:
    """The rows of a slice; StateError if they are damaged."""
    return owned([unseal_batch(blob, _named(key))])


def _named(key: SliceKey) -> str:
    section, number = key
    return f"slice {number} of {section!r} in the checkpoint"
