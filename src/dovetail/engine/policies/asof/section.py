"""Rows of an as-of join on disk as a section of the state."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Protocol

from dovetail.engine.buffer.header import finite
from dovetail.engine.policies.asof.part import Part
from dovetail.engine.policies.spill.pauses import Pauses
from dovetail.engine.policies.spill.section import SpilledSlices
from dovetail.engine.policies.spill.store import PartStore
from dovetail.errors import StateError


class Disk(Protocol):
    """Parts, and what must be known of them to go on."""

    store: PartStore
    parts: dict[int, Part]
    next_part: int
    floor: int
    load: int
    flushed: int
    kept: int
    counts: dict[str, int]
    pauses: Pauses

    @property
    def streams(self) -> Sequence[str]: ...


class SpilledRows(SpilledSlices):
    """Parts as slices, and what is known of them in the header."""

    def __init__(self, disk: Disk) -> None:
        super().__init__(disk)
        self._disk = disk

    def header(self) -> dict[str, Any]:
        disk = self._disk
        return {
            "next": disk.next_part,
            "floor": disk.floor,
            "load": disk.load,
            "grown": [disk.flushed, disk.kept],
            "counts": disk.counts,
            "pauses": disk.pauses.header(),
            "parts": [asdict(part) for part in disk.parts.values()],
        }

    def restore(self, header: dict[str, Any]) -> None:
        disk = self._disk
        disk.next_part, disk.floor = int(header["next"]), int(header["floor"])
        disk.load = int(finite(header["load"], least=1))
        disk.flushed, disk.kept = (int(finite(count, least=0)) for count in header["grown"])
        disk.counts = {name: int(header["counts"][name]) for name in disk.counts}
        disk.pauses.restore(header["pauses"])
        disk.parts = {part.number: part for part in map(Part.from_json, header["parts"])}
        strange = next((part for part in disk.parts.values() if part.stream not in disk.streams), None)
        if strange is not None:
            raise StateError(f"the state has spilled rows of a stream {strange.stream!r}, which the query has not")
