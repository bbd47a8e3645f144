"""The engine: blocks of columns in, results out; no Spark, no clock, no threads.

    push      door -> window -> probe -> exit, for each piece of the batch in order of time; then expiry
    advance   a promise about one stream's future
    tick      processing time, for streams that fall silent
    close     the end of all input
    changes   new slices, gone slices, header: the only form of state
    snapshot  all slices and the header (``restore`` is its inverse)

Invariant: a result is made by its member that was stored last, so exactly once, however the input
is cut or interleaved. Example, windows of 10 s, k equal:

    push A k=1 at 3      stored; B is empty                    nothing
    push B k=1 at 9      stored; A's tuple at 3 >= 9 - 10      (A 3, B 9), result time 9
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from dovetail.engine.admit.block import Block, interleave
from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.door import Door
from dovetail.engine.admit.watermarks import Watermarks
from dovetail.engine.buffer.slices import Changes, SliceKey, SliceLog
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.probe import Probe
from dovetail.engine.deliver.project import Projection
from dovetail.model.window import TimeWindow
from dovetail.plan.physical import Plan

_UNBOUNDED = 1 << 60


class Engine:
    """One multi-way operator."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        query = plan.query
        self.diverted = Diverted(query)
        self._widths = {s.name: s.window.length_us if isinstance(s.window, TimeWindow) else _UNBOUNDED for s in query.streams}
        self._windows = {s.name: Window(s, plan.storage[s.name]) for s in query.streams}
        self._doors = {s.name: Door(query, s, self._windows[s.name], self.diverted) for s in query.streams}
        self._probes = {n: Probe(n, plan.probes[n], self._windows, self._widths) for n in query.names}
        self._logs = {name: SliceLog(f"window/{name}", window) for name, window in self._windows.items()}
        self._watermarks = Watermarks(query.streams)
        self._exit = Projection(plan, self._windows)
        self._results = 0

    def push(
        self, blocks: Mapping[str, pa.Table | pa.RecordBatch], newest: Mapping[str, int] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """One batch of one or several streams; ``newest`` gives the streams' largest times if known from elsewhere.

        The results must be read to the end: storing and expiry go along with them.
        """
        admitted: dict[str, Block] = {}
        largest = dict(newest or {})
        for name, rows in blocks.items():
            block, seen = self._doors[name].admit(rows, self._watermarks[name])
            if block is not None:
                admitted[name] = block
            if seen is not None:
                largest[name] = max(seen, largest.get(name, seen))
        for name, time in largest.items():
            self._watermarks.saw(name, time)
        if admitted:
            for name, block, pending in interleave(admitted):
                yield from self._join(name, block)
                self._expire(pending)
        self._expire({})

    def _join(self, name: str, block: Block) -> Iterator[pa.RecordBatch]:
        first, last = self._windows[name].append(block.columns, block.times, block.attributes)
        for results in self._probes[name].results(first, last):
            for rows in self._exit.rows(results):
                self._results += rows.num_rows
                yield rows

    def _expire(self, pending: Mapping[str, int]) -> None:
        """Forget what no tuple still to come can reach; ``pending``: streams with tuples left in this batch."""
        reach = {name: min(self._watermarks[name], pending.get(name, self._watermarks[name])) for name in self._windows}
        for name, window in self._windows.items():
            if len(window):
                window.expire(min(time for other, time in reach.items() if other != name) - self._widths[name])

    def advance(self, name: str, time_us: int) -> Iterator[pa.RecordBatch]:
        """Nothing older than this will come from the stream."""
        self._watermarks.promise(name, time_us)
        self._expire({})
        yield from ()

    def tick(self, now_us: int) -> Iterator[pa.RecordBatch]:
        """It is now this time, by the clock of whoever runs the engine."""
        self._watermarks.tick(now_us)
        self._expire({})
        yield from ()

    def close(self) -> Iterator[pa.RecordBatch]:
        """Nothing will come any more from any stream."""
        self._watermarks.close()
        self._expire({})
        yield from ()

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        new: dict[SliceKey, pa.RecordBatch] = {}
        gone: list[SliceKey] = []
        for log in self._logs.values():
            written, deleted = log.changes()
            new |= written
            gone += deleted
        return Changes(new, gone, self._header())

    def state(self) -> tuple[dict[SliceKey, pa.RecordBatch], bytes]:
        """All of the state: every live slice and the header."""
        slices = {}
        for name, window in self._windows.items():
            if len(window):
                slices[f"window/{name}", 0] = window.batch(window.tail, window.end)
        return slices, self._header()

    def apply(self, changes: Changes) -> None:
        """Take over what another engine of the same plan did to the same state."""
        for (section, number), batch in sorted(changes.new.items(), key=lambda item: item[0]):
            self._load(section, number, batch)
        for section, log in ((f"window/{name}", log) for name, log in self._logs.items()):
            log.dropped({number for gone, number in changes.gone if gone == section})
        self._restore_header(changes.header)
        self._expire({})

    @classmethod
    def restore(cls, plan: Plan, slices: Mapping[SliceKey, pa.RecordBatch], header: bytes) -> "Engine":
        """An engine that goes on where the state was written."""
        engine = cls(plan)
        engine.apply(Changes(dict(slices), [], header))
        return engine

    def _load(self, section: str, number: int, batch: pa.RecordBatch) -> None:
        name = section.removeprefix("window/")
        block = self._doors[name].stored(batch)
        self._windows[name].append(block.columns, block.times, block.attributes)
        self._logs[name].loaded(number)

    def _header(self) -> bytes:
        state = {
            "watermarks": self._watermarks.state(),
            "counts": {name: door.counts for name, door in self._doors.items()},
            "numbers": {name: log.next_number for name, log in self._logs.items()},
            "results": self._results,
        }
        return json.dumps(state).encode()

    def _restore_header(self, header: bytes) -> None:
        state = json.loads(header)
        self._watermarks.restore(state["watermarks"])
        for name, counts in state["counts"].items():
            self._doors[name].counts.clear()
            self._doors[name].counts.update(counts)
        for name, number in state["numbers"].items():
            self._logs[name].next_number = number
        self._results = state["results"]

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far."""
        streams = {
            name: {
                **{reason: door.counts[reason] for reason in ("rows", "late", "null_time", "filtered", "unmatchable")},
                "watermark": self._watermarks[name],
                "stored": len(self._windows[name]),
                "bytes": self._windows[name].nbytes,
            }
            for name, door in self._doors.items()
        }
        return {"streams": streams, "results": self._results, "frontier": self._watermarks.frontier}
