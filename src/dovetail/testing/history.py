"""Which tuples of a script count, and in which order: watermarks, lateness and idle streams.

With a delay of 2 s, a stream that has shown time 10 has its watermark at 8. In the next batch a
tuple of time 8 is in time and one of time 7 is late, whatever else that batch brings:

    push 10        watermark 8
    push 7, 20     7 is late: it is judged by the watermark as it stood before its batch
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dovetail.model.dedup import Dedup
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.testing.interpret import inside
from dovetail.testing.script import Advance, Close, Event, Push, Script, Tick


@dataclass(frozen=True)
class Tuple:
    """One row of a stream. ``order`` is its place among all tuples: (time, stream position, arrival)."""

    stream: str
    order: tuple[int, int, int]
    values: Mapping[str, Any] = field(compare=False, repr=False)

    @property
    def time_us(self) -> int:
        return self.order[0]


@dataclass
class History:
    """All that a script brought, sorted into what counts, what is late and what has no time."""

    query: JoinQuery
    tuples: dict[str, list[Tuple]]
    late: dict[str, list[Tuple]]
    null_times: dict[str, int]
    ahead: dict[str, list[Tuple]]
    repeated: dict[str, int]
    watermarks: dict[str, int | None]
    heard: dict[str, int | None]
    spoke: set[str] = field(default_factory=set)
    last_tick: int | None = None
    passed: int = 0
    arrived: int = 0
    reference: int | None = None

    @classmethod
    def of(cls, query: JoinQuery, script: Script) -> "History":
        """Go through a script from the beginning, up to ``Close`` if it has one."""
        names = query.names
        history = cls(
            query=query,
            tuples={name: [] for name in names},
            late={name: [] for name in names},
            null_times=dict.fromkeys(names, 0),
            ahead={name: [] for name in names},
            repeated=dict.fromkeys(names, 0),
            watermarks=dict.fromkeys(names),
            heard=dict.fromkeys(names),
        )
        for event in script:
            if isinstance(event, Close):
                break
            history.record(event)
        return history

    def record(self, event: Event) -> None:
        if isinstance(event, Push):
            self._push(event.batch)
        elif isinstance(event, Advance):
            self.spoke.add(event.stream)
            self._raise(event.stream, event.time_us)
            self._reach(event.time_us)
        elif isinstance(event, Tick):
            self._tick(event.now_us)

    def _push(self, batch: Mapping[str, pa.Table]) -> None:
        before, farthest = dict(self.watermarks), self._farthest(batch)
        for name in self.query.names:
            if name in batch and batch[name].num_rows:
                self.spoke.add(name)
                self._admit(name, batch[name], before[name], farthest[name])

    def _farthest(self, batch: Mapping[str, pa.Table]) -> dict[str, int | None]:
        """The largest time that rows of each stream may have (None: any).

        Up from the largest time accepted so far, by way of the times of this batch, in steps that are not longer than
        the stream's ``ahead``.
        """
        columns = [event_times(self.query.stream(name), rows) for name, rows in batch.items()]
        times = sorted(time for column in columns for time in column if time is not None)
        farthest: dict[str, int | None] = dict.fromkeys(self.query.names)
        for stream in self.query.streams:
            if stream.ahead_us is not None and times:
                reached = times[0] if self.reference is None else self.reference
                for time in times:
                    reached = max(reached, time) if time - reached <= stream.ahead_us else reached
                farthest[stream.name] = reached
        return farthest

    def _reach(self, time_us: int) -> None:
        self.reference = time_us if self.reference is None else max(self.reference, time_us)

    def _admit(self, name: str, rows: pa.Table, watermark: int | None, farthest: int | None) -> None:
        stream = self.query.stream(name)
        times = event_times(stream, rows)
        for time_us, values in zip(times, rows.to_pylist(), strict=True):
            if time_us is None:
                self.null_times[name] += 1
                continue
            self.arrived += 1
            row = Tuple(name, (time_us, self.query.names.index(name), self.arrived), values)
            if farthest is not None and time_us > farthest:
                self.ahead[name].append(row)
                continue
            self._reach(time_us)
            late = watermark is not None and time_us < watermark
            if late:
                self.late[name].append(row)
            if not late or self.query.late == "keep":
                if stream.dedup is not None and self._is_repeat(row, stream.dedup):
                    self.repeated[name] += 1
                else:
                    self.tuples[name].append(row)
            self._raise(name, time_us - stream.delay_us)

    def _is_repeat(self, row: Tuple, dedup: Dedup) -> bool:
        """Whether a row that stayed agrees with it in all columns compared and is not too far away; NULL is no id."""
        assert dedup.within_us is not None
        if any(inside(row.values, column) is None for column in dedup.columns):
            return False
        near = (other for other in self.tuples[row.stream] if abs(other.time_us - row.time_us) <= dedup.within_us)
        return any(
            all(_alike(inside(row.values, name), inside(other.values, name)) for name in dedup.compared)
            for other in near
        )

    def _raise(self, name: str, time_us: int) -> None:
        table = self.query.stream(name).table
        if table is not None and table.ready_us is not None and time_us < table.ready_us:
            return  # a table that is not loaded yet promises nothing
        old = self.watermarks[name]
        self.watermarks[name] = time_us if old is None else max(old, time_us)
        self._follow()

    def _follow(self) -> None:
        """Tables that are loaded come along with the streams that are none, their delay behind."""
        tables = {s.name: s for s in self.query.streams if s.table is not None and s.table.ready_us is not None}
        others = [mark for name, mark in self.watermarks.items() if name not in tables]
        for name, stream in tables.items():
            own = self.watermarks[name]
            if own is not None:
                shown = [mark for mark in others if mark is not None]
                ahead = min(shown) - stream.delay_us if len(shown) == len(others) else own
                self.watermarks[name] = max(own, ahead)

    def _tick(self, now_us: int) -> None:
        """Silence begins at the first tick after a stream spoke, and is noticed at ticks only.

        It is the time that passed between ticks; a tick that lies before the last one is a new origin.
        """
        self.passed += 0 if self.last_tick is None else max(0, now_us - self.last_tick)
        self.last_tick, now_us = now_us, self.passed
        for name in self.query.names:
            if name in self.spoke or self.heard[name] is None:
                self.heard[name] = now_us
        self.spoke.clear()
        silent = [stream.name for stream in self.query.streams if self._is_silent(stream, now_us)]
        frontier = self._frontier_without(silent)
        for name in silent:
            if frontier is not None:
                self._raise(name, frontier)

    def _is_silent(self, stream: Stream, now_us: int) -> bool:
        heard = self.heard[stream.name]
        return stream.idle_us is not None and heard is not None and now_us - heard > stream.idle_us

    def _frontier_without(self, silent: list[str]) -> int | None:
        """The smallest watermark of the others; if all are silent, the largest of all."""
        others = [self.watermarks[name] for name in self.query.names if name not in silent]
        shown = [mark for mark in others or self.watermarks.values() if mark is not None]
        if len(shown) < len(others):
            return None
        return min(shown) if others else max(shown, default=None)


def event_times(stream: Stream, rows: pa.Table) -> list[int | None]:
    """The times of rows of a stream, NULL as None."""
    if stream.time in rows.column_names:
        return times_us(rows[stream.time])
    return times_us(pa.array([inside(values, stream.time) for values in rows.to_pylist()], stream.time_type))


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are the same; NULL is like NULL here, and NaN like NaN."""
    both_nan = isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    return both_nan or bool(one == other)


def times_us(column: pa.ChunkedArray | pa.Array) -> list[int | None]:
    """Event times as integers, NULL as None."""
    stamps = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False)
    values: list[int | None] = stamps.cast(pa.int64()).to_pylist()
    return values
