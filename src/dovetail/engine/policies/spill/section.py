"""Spilled parts in the state: their rows as slices, what is known of them in the header."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from dovetail.engine.buffer.header import finite
from dovetail.engine.buffer.section import SliceKey
from dovetail.engine.policies.spill.part import EPOCH, Part, checked_runs, epochs_of, runs_of
from dovetail.engine.policies.spill.store import PartStore
from dovetail.errors import StateError

if TYPE_CHECKING:
    from dovetail.engine.policies.spill.spill import Spill

SPILLED = "spilled"


class Spilling(Protocol):
    """Who has parts, by number, in a store."""

    store: PartStore

    @property
    def parts(self) -> Mapping[int, Any]: ...


class SpilledSlices:
    """The rows of parts as slices: one section for all streams; parts are numbered through."""

    section = SPILLED

    def __init__(self, spill: Spilling) -> None:
        self._held_by = spill
        self._written: set[int] = set()

    def changes(self) -> tuple[dict[SliceKey, pa.RecordBatch], list[SliceKey]]:
        """Parts written and deleted since the last call, unless they are kept in the state anyway."""
        if self._held_by.store.is_state:
            return {}, []
        now = set(self._held_by.parts)
        new, gone = now - self._written, self._written - now
        self._written = now
        return self._read(new), [(self.section, number) for number in sorted(gone)]

    def state(self) -> dict[SliceKey, pa.RecordBatch]:
        """All parts."""
        return {} if self._held_by.store.is_state else self._read(set(self._held_by.parts))

    def _read(self, numbers: set[int]) -> dict[SliceKey, pa.RecordBatch]:
        return {(self.section, number): self._held_by.store.read(number) for number in sorted(numbers)}

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        """A part read back goes to disk again."""
        self._held_by.store.write(number, rows)
        self._written.add(number)

    def drop(self, numbers: set[int]) -> None:
        for number in numbers & self._written:
            self._held_by.store.delete(number)
        self._written -= numbers


class Spilled(SpilledSlices):
    """The parts of an engine, and what is known of them in the header."""

    def __init__(self, spill: "Spill") -> None:
        super().__init__(spill)
        self._spill = spill

    def header(self) -> dict[str, Any]:
        spill = self._spill
        windows = spill.stages.store.windows.items()
        return {
            "epoch": spill.epoch,
            "passed": spill.passed,
            "next": spill.next_part,
            "floor": spill.floor,
            "order": spill.choice.order,
            "counts": spill.counts,
            "pauses": spill.pauses.header(),
            "parts": [part.to_json() for part in spill.parts.values()],
            "arrived": {name: runs_of(w.note(EPOCH)[w.tail - w.base : w.end - w.base]) for name, w in windows},
        }

    def restore(self, header: dict[str, Any]) -> None:
        spill = self._spill
        spill.passed, spill.next_part = header["passed"], header["next"]
        spill.floor = {name: header["floor"][name] for name in spill.floor}
        spill.counts = {name: header["counts"][name] for name in spill.counts}
        spill.pauses.restore(header.get("pauses", ()))
        spill.choice.order = [int(finite(number)) for number in header["order"]]
        spill.parts = {part.number: part for part in map(Part.from_json, header["parts"])}
        strange = next((part for part in spill.parts.values() if part.stream not in spill.stages.store.windows), None)
        if strange is not None:
            raise StateError(f"the state has spilled rows of a stream {strange.stream!r}, which the query has not")
        spill.begin_epoch(int(finite(header["epoch"], least=0)))
        for name, runs in header["arrived"].items():
            window = spill.stages.store.windows[name]
            kept = epochs_of(checked_runs(runs, len(window)))
            window.note(EPOCH)[window.tail - window.base : window.end - window.base] = kept
