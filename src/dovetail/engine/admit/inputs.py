"""The way in of all streams of a query: a door and a place at the gate for each, and how far each has come.

read      rows as their stream promised them, or an error before anything has changed
admit     late rows, rows without a time and rows that fail their own conditions leave; the rest is put in order
wait      what came in waits at the gate until its turn has come
release   the blocks whose turn has come, with the numbers that kernels compare
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.door import Columns, Door, Kept, Lateness, Read, Times
from dovetail.engine.admit.gate import Gate
from dovetail.engine.admit.horizon import Horizon, Span, spans_of
from dovetail.engine.admit.watermarks import Watermarks
from dovetail.engine.block.block import Block
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.section import HeaderSection, Section, whole_numbers
from dovetail.model.query import JoinQuery

Batch: TypeAlias = pa.Table | pa.RecordBatch
Spans: TypeAlias = Mapping[str, Sequence[Span]]


class Inputs(HeaderSection):
    """Doors, gate and watermarks; ``latest`` is the largest event time that came in."""

    section = "inputs"

    def __init__(self, query: JoinQuery, windows: Mapping[str, Kept]) -> None:
        self.diverted = Diverted(query)
        self.doors = {s.name: Door(query, s, windows[s.name], self.diverted) for s in query.streams}
        self.gate = Gate(query, self.doors)
        self.watermarks = Watermarks(query.streams)
        self.horizon = Horizon(query.streams)
        self.latest = BEFORE_ALL
        self._drops_late = query.late == "drop"
        self._repeats = [door.repeats for door in self.doors.values() if door.repeats is not None]

    def read(self, blocks: Mapping[str, Batch]) -> dict[str, Read]:
        """The rows of a batch by stream; DataError if some do not fit, and then nothing has happened."""
        return {name: self.doors[name].read(rows) for name, rows in blocks.items()}

    def look(
        self, read: Mapping[str, Read], newest: Mapping[str, int] | None, spans: Spans | None
    ) -> tuple[dict[str, int], dict[str, int]]:
        """The largest time that may come in from each guarded stream, and the largest known to come from others.

        ``newest`` and ``spans`` tell the times of rows that others have, as a bucket on Spark is told.
        """
        for repeats in self._repeats:
            repeats.forget(self.watermarks.frontier)
        gap_us, farthest, largest = self.horizon.gap_us, dict[str, int](), dict(newest or {})
        if gap_us is None and not largest:
            return farthest, largest
        if gap_us is not None:
            own = {name: spans_of(clock.times, gap_us) for name, (_, clock) in read.items()} if spans is None else spans
            farthest, largest = self.horizon.look(own)
        self.latest = max([self.latest, *largest.values()])
        return farthest, largest

    def admit(self, name: str, rows: Read, farthest: int) -> tuple[Columns, Times, int | None]:
        """The rows that come in, in order of time, and the largest time seen (None: no time at all).

        Rows beyond the time ``farthest`` lie too far ahead, and count as not seen.
        """
        door, marks = self.doors[name], self.watermarks
        if door.rows_of(rows):
            marks.heard(name)
        columns, times, seen = door.admit(rows, marks[name], marks.largest(name), farthest)
        self.latest = max(self.latest, door.latest)
        return columns, times, seen

    def promise(self, name: str, time_us: int) -> None:
        """Nothing older than this will come from the stream."""
        self.watermarks.promise(name, time_us)
        self.horizon.promised(time_us)

    def progress(self) -> dict[str, dict[str, Any]]:
        """How far each stream has come, for an operator that starts later."""
        reference = {"reference": self.horizon.reference, "latest": self.latest}
        return {name: each | reference for name, each in self.watermarks.progress().items()}

    def start_late(self, progress: Mapping[str, Mapping[str, Any]]) -> int:
        """Begin with the progress that others have seen: what is late for them is late here. The latest time of it."""
        self.watermarks.start_late(progress)
        known = [progress[name] for name in self.doors if name in progress]
        reached = (each.get("reference") for each in known)
        self.horizon.reference = max((time for time in reached if time is not None), default=None)
        return max((int(each.get("latest", each["watermark"])) for each in known), default=BEFORE_ALL)

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped, and for which a longer delay would have kept some."""
        late = self.doors.items() if self._drops_late else ()
        return {name: door.lateness for name, door in late if door.needed_us}

    def wait(self, name: str, columns: Columns, times: Times) -> None:
        """Put admitted rows into their place at the gate."""
        if len(times):
            self.gate.add(name, columns, times)

    def release(self) -> dict[str, Block]:
        """The blocks whose turn has come."""
        return self.gate.release(self.watermarks)

    def reach(self, pending: Mapping[str, int]) -> dict[str, int]:
        """The earliest time that each stream may still bring; ``pending``: the next tuple of this batch."""
        marks, gate = self.watermarks, self.gate
        if not pending and gate.is_empty:
            return marks.all()
        return {name: min(marks[name], pending.get(name, AFTER_ALL), gate.earliest(name)) for name in self.doors}

    @property
    def repeats_bytes(self) -> int:
        """What is remembered of rows that may be repeated."""
        return sum(repeats.nbytes for repeats in self._repeats)

    def arrived(self) -> dict[str, int]:
        """How many rows each stream has sent."""
        return {name: door.counts["rows"] for name, door in self.doors.items()}

    def sections(self) -> list[Section]:
        """Its parts of the state: itself, watermarks, rows that wait, and rows that nobody has taken."""
        guard = [self.horizon] if self.horizon.gap_us is not None else []
        return [self, self.watermarks, *guard, *self.gate.piles.values(), self.diverted, *self._repeats]

    def header(self) -> dict[str, Any]:
        return {
            "latest": self.latest,
            "counts": {name: dict(door.counts) for name, door in self.doors.items()},
            "lateness": {name: door.needed_us for name, door in self.doors.items()},
        }

    def restore(self, header: dict[str, Any]) -> None:
        self.latest = int(header["latest"])
        for name, counts in header["counts"].items():
            self.doors[name].counts = Counter(whole_numbers(counts))
        for name, needed_us in header.get("lateness", {}).items():
            self.doors[name].needed_us = int(needed_us)
