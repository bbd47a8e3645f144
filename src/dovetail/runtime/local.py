"""The embedded runtime: one engine in this process, driven by whoever calls it."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from numbers import Integral
from time import thread_time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.engine.buffer.slices import Changes
from dovetail.engine.engine import Stopwatch
from dovetail.engine.snapshot import pack_snapshot, readable, unpack_snapshot
from dovetail.errors import DataError, nearest
from dovetail.model.fingerprint import fingerprint
from dovetail.model.order import Adaptive
from dovetail.model.stream import Stream
from dovetail.plan.explain import explain
from dovetail.plan.physical import Plan
from dovetail.runtime.adapting import Adapting, WallStopwatch
from dovetail.runtime.rows import as_table
from dovetail.runtime.tree import engine_of, running_plan

if TYPE_CHECKING:
    from dovetail.runtime.cpu_budget import CpuBudget
    from dovetail.runtime.reporting import Reporting


class Run:
    """A running query. Every call returns the results it caused.

    A simulation hands in its own ``stopwatch``, and ``block_rows=1`` to join one tuple at a time; under a CPU budget
    also a ``meter``, which tells the seconds of CPU time used so far.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", window="10 seconds", schema=schema) for name in "AB")
    >>> run = dv.join(a, b, on="A.k = B.k").local()
    >>> run.push("A", [{"ts": 3_000_000, "k": 1}]).num_rows
    0
    >>> run.push("B", [{"ts": 9_000_000, "k": 1}]).num_rows
    1
    """

    _adapting: Adapting | None = None
    reporting: "Reporting | None" = None
    _cpu: "CpuBudget | None" = None

    def __init__(
        self,
        plan: Plan,
        snapshot: bytes | None = None,
        stopwatch: Stopwatch | None = None,
        block_rows: int | None = None,
        meter: Callable[[], float] | None = None,
    ) -> None:
        self._begin(plan.query.schema, plan.query.streams)
        self._fingerprint = fingerprint(plan.query)
        self._engine: Any = engine_of(plan, stopwatch or WallStopwatch(plan.query.order), block_rows)
        if snapshot is not None:
            slices, header = unpack_snapshot(snapshot, self._fingerprint)
            with readable():
                self._engine.apply(Changes(slices, [], header))
        if plan.query.budget is not None and plan.query.budget.cpu is not None:
            from dovetail.runtime.cpu_budget import CpuBudget  # its solvers take a while to load

            with readable():
                self._cpu = CpuBudget(self._engine, plan.query.budget, meter or thread_time)
        order = plan.query.order
        if isinstance(order, Adaptive):
            self._adapting = Adapting(self._engine, order.alpha)

    def _begin(self, schema: pa.Schema, streams: Sequence[Stream]) -> None:
        self._schema = schema
        self._streams = {stream.name: stream for stream in streams}
        self._closed = False
        self._unread = False
        self._late = pa.table({})

    def push(self, stream_name: str, rows: Any) -> pa.Table:
        """Give the run a batch of one stream; get the results it caused."""
        return self._table(self.push_batches(stream_name, rows))

    def push_batches(self, stream_name: str, rows: Any) -> Iterator[pa.RecordBatch]:
        """As ``push``, but the results come one batch at a time, in bounded memory; read them to the end."""
        self._open("push")
        stream = self._streams[self._known(stream_name)]

        def call() -> Iterator[pa.RecordBatch]:
            given: Iterator[pa.RecordBatch] = self._engine.push({stream_name: as_table(stream, rows)})
            return given

        results = call() if self._cpu is None else self._cpu.around(call)
        return self._to_the_end(self._adapting.around(results) if self._adapting else results)

    def advance(self, stream_name: str, time: datetime | int) -> pa.Table:
        """Promise that the stream will send nothing older than ``time`` (a datetime, or microseconds)."""
        self._open("advance")
        name, time_us = self._known(stream_name), _as_us(time)
        if self._cpu is not None:
            return self._table(self._to_the_end(self._cpu.around(lambda: self._engine.advance(name, time_us))))
        return self._table(self._to_the_end(self._engine.advance(name, time_us)))

    def tick(self, now: datetime | int) -> pa.Table:
        """Tell the run what time it is (processing time); it never reads a clock itself."""
        self._open("tick")
        if self._cpu is not None:
            return self._table(self._to_the_end(self._cpu.tick(_as_us(now))))
        return self._table(self._to_the_end(self._engine.tick(_as_us(now))))

    def close(self) -> pa.Table:
        """The end of all input; what was still waiting comes out."""
        self._open("close")
        self._closed = True
        return self._table(self._to_the_end(self._engine.close()))

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far."""
        counted: dict[str, Any] = self._engine.metrics()
        return counted if self._cpu is None else counted | {"budget": self._cpu.metrics()}

    def plan_report(self) -> dict[str, Any]:
        """The plan it runs with now, and what was measured beside what was predicted, as plain values."""
        return running_plan(self._engine)

    def explain(self) -> str:
        """The same in words."""
        return explain(self.plan_report())

    def _repr_html_(self) -> str:
        """How notebooks show it: what it has done so far, and the plans it runs with now."""
        from dovetail.runtime.reporting import run_display

        return run_display(self)

    def snapshot(self) -> bytes:
        """Everything needed to go on later with ``query.local(snapshot=...)``."""
        self._whole("snapshot")
        if self._cpu is not None:
            self._cpu.save()
        slices, header = self._engine.state()
        return pack_snapshot(self._fingerprint, header, slices)

    @property
    def late(self) -> pa.Table:
        """The rows diverted so far (``late="divert"``): stream, reason, how late, the row."""
        fresh = self._engine.diverted.take()
        self._late = pa.concat_tables([self._late, fresh]) if self._late.num_columns else fresh
        return self._late

    def _table(self, batches: Iterator[pa.RecordBatch]) -> pa.Table:
        return pa.Table.from_batches(batches, self._schema)

    def _to_the_end(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The results of a call; until they have all been read the run is in the middle of it."""
        self._unread = True
        watched = self.reporting.watch(batches, self._closed) if self.reporting else batches

        def read() -> Iterator[pa.RecordBatch]:
            yield from watched
            self._unread = False

        return read()

    def _known(self, stream_name: str) -> str:
        if stream_name not in self._streams:
            raise DataError(f"the query has no stream {stream_name!r}; {nearest(stream_name, self._streams)}")
        return stream_name

    def _open(self, action: str) -> None:
        if self._closed:
            raise DataError(f"{action}: this run is closed. Start another with query.local().")
        self._whole(action)

    def _whole(self, action: str) -> None:
        if self._unread:
            raise DataError(
                f"{action}: the results of the call before were not read to the end, or it failed. "
                "Read them to the end, or go on from a snapshot."
            )


def _as_us(time: datetime | int) -> int:
    if isinstance(time, datetime):
        return int(pa.scalar(time, pa.timestamp("us", tz="UTC" if time.tzinfo else None)).value)
    if isinstance(time, Integral) and not isinstance(time, bool):
        if not -(1 << 63) <= time < 1 << 63:
            raise DataError(f"{time} is not a time: microseconds since 1970 fit into 64 bits; is it in nanoseconds?")
        return int(time)
    raise DataError(f"{time!r} is not a time; give a datetime, or microseconds since 1970 as a whole number")


def collect(plan: Plan) -> pa.Table:
    """Run finite inputs to the end, in order of event time."""
    engine = engine_of(plan)
    batches = [*engine.push(tables_of(plan.query.streams)), *engine.close()]
    return pa.Table.from_batches(batches, plan.query.schema)


def tables_of(streams: Sequence[Stream]) -> dict[str, pa.Table | pa.RecordBatch]:
    """The data that streams were made with."""
    missing = next((stream.name for stream in streams if stream.data is None), None)
    if missing is not None:
        raise DataError(f"collect: stream {missing!r} has no data; give it some, or push rows to query.local()")
    return {stream.name: as_table(stream, stream.data) for stream in streams}
