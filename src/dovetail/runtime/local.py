"""The embedded runtime: one engine in this process, driven by whoever calls it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.engine.admit.fits import why_not
from dovetail.engine.operator.carry_over import carry_over
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.engine import Stopwatch
from dovetail.engine.operator.snapshot import pack_snapshot, readable, unpack_snapshot
from dovetail.engine.operator.state import read_header
from dovetail.errors import DataError, nearest
from dovetail.model.budget import Budget
from dovetail.model.fingerprint import fingerprints
from dovetail.model.fitting import check_limit
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.undo import can_be_undone
from dovetail.plan.explain import explain
from dovetail.plan.physical import Plan
from dovetail.runtime.finite import load_tables, pushes_of
from dovetail.runtime.first_rows import first, for_first_rows, in_growing_pieces
from dovetail.runtime.last_good import LastGood
from dovetail.runtime.lateness import LatenessWatch
from dovetail.runtime.operator_of import Hands, operator_of
from dovetail.runtime.plans import running_plan
from dovetail.runtime.rows import as_table
from dovetail.runtime.threads.pool import usable_cores
from dovetail.runtime.wall_stopwatch import WallStopwatch

if TYPE_CHECKING:
    from dovetail.runtime.reporting import Reporting
    from dovetail.runtime.why import Why


class Run:
    """A running query. Every call returns the results it caused.

    A simulation hands in its own ``stopwatch``, and ``block_rows=1`` to join one tuple at a time; under a CPU budget
    also a ``meter``, which tells the seconds of CPU time used so far. With ``threads=None`` all cores join.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", window="10 seconds", schema=schema) for name in "AB")
    >>> run = dv.join(a, b, on="A.k = B.k").local()
    >>> run.push("A", [{"ts": 3_000_000, "k": 1}]).num_rows
    0
    >>> run.push("B", [{"ts": 9_000_000, "k": 1}]).num_rows
    1
    """

    reporting: "Reporting | None" = None
    budget: Budget | None = None
    names_queries = False  # whether its rows carry the name of a query
    _last_good: LastGood | None = None
    _diverts = False

    def __init__(
        self,
        plan: Plan,
        snapshot: bytes | None = None,
        stopwatch: Stopwatch | None = None,
        block_rows: int | None = None,
        meter: Callable[[], float] | None = None,
        threads: int | None = 1,
    ) -> None:
        query = plan.query
        hands = Hands(stopwatch or WallStopwatch(query.order), meter, block_rows, threads=threads or usable_cores())
        self._new = partial(operator_of, plan, hands)
        self._begin(query.schema, [query], self._new())
        self._fingerprints, self.budget = fingerprints(query), query.budget
        self._diverts = query.on_error == "divert"
        if can_be_undone(query):
            self._last_good = LastGood()
        if snapshot is not None:
            changes = unpack_snapshot(snapshot, *self._fingerprints)
            with readable():
                self.operator.apply(changes)
                if self._last_good is not None:
                    self._last_good.keep(changes)  # slices that are read back are not told again as changes
        else:
            load_tables(self.operator, plan.query.streams, plan.columns)
        self._keep()

    def _begin(self, schema: pa.Schema, queries: Sequence[JoinQuery], operator: Operator) -> None:
        self.operator = operator
        self._streams: dict[str, Stream] = {}
        self._expect(schema, queries)
        self._closed = False
        self._pending: Iterator[pa.RecordBatch] | None = None  # what was not read of the results of a call
        self._rest: list[pa.RecordBatch] = []  # the same, to be given out by the next call
        self._failure: str | None = None
        self._lateness = LatenessWatch()

    def _expect(self, schema: pa.Schema, queries: Sequence[JoinQuery]) -> None:
        """What comes out, what may come in (also for queries that are gone), and what of it must be there."""
        self._schema = schema
        self._queries = list(queries)
        self._streams |= {stream.name: stream for query in reversed(queries) for stream in query.streams}
        self._needed: dict[str, set[str]] = {name: set() for name in self._streams}
        for query in queries:
            for name in query.names:
                self._needed[name] |= query.columns_tested(name)

    @property
    def streams(self) -> list[Stream]:
        """What may be pushed."""
        return list(self._streams.values())

    def push(self, stream_name: str, rows: Any) -> pa.Table:
        """Give the run a batch of one stream; get the results it caused."""
        return self._table(self.push_batches(stream_name, rows))

    def push_batches(self, stream_name: str, rows: Any) -> Iterator[pa.RecordBatch]:
        """As ``push``, but the results come one batch at a time, in bounded memory.

        What is not read of them comes out with the results of the next call. If the batch fails half-way, what it gave
        out until then does not count: the run is as it was before it.
        """
        self._open("push")
        stream = self._streams[self._known(stream_name)]
        table = as_table(stream, rows, self._needed[stream.name])
        results = partial(self.operator.push, {stream.name: table})
        return self._to_the_end(self._or_divert(stream, table, results) if self._diverts else results())

    def advance(self, stream_name: str, time: datetime | int) -> pa.Table:
        """Promise that the stream will send nothing older than ``time`` (a datetime, or microseconds)."""
        self._open("advance")
        name, time_us = self._known(stream_name), _as_us(time)
        _check_zone(self._streams[name], time)
        return self._table(self._to_the_end(self.operator.advance(name, time_us)))

    def tick(self, now: datetime | int) -> pa.Table:
        """Tell the run what time it is (processing time); it never reads a clock itself."""
        self._open("tick")
        return self._table(self._to_the_end(self.operator.tick(_as_us(now))))

    def close(self) -> pa.Table:
        """The end of all input; what was still waiting comes out."""
        self._open("close")
        self._closed = True
        return self._table(self._to_the_end(self.operator.close()))

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far."""
        return self.operator.metrics()

    def plan_report(self) -> dict[str, Any]:
        """The plan it runs with now, and what was measured beside what was predicted, as plain values."""
        return running_plan(self.operator)

    def explain(self) -> str:
        """The same in words."""
        return explain(self.plan_report())

    def _repr_html_(self) -> str:
        """How notebooks show it: what it has done so far, and the plans it runs with now."""
        from dovetail.runtime.reporting import run_display

        return run_display(self)

    def why(self, stream_name: str, row: Any) -> "Why":
        """Why a row that was pushed has not come out: what it waits for, or what it lacks; ``print`` shows sentences.

        >>> import dovetail as dv, pyarrow as pa
        >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
        >>> a, b = (dv.stream(name, time="ts", window="10 seconds", schema=schema) for name in "AB")
        >>> run = dv.join(a, b, on="A.k = B.k").local()
        >>> row = {"ts": 3_000_000, "k": 1}
        >>> run.push("A", [row]).num_rows, run.why("A", row).reason
        (0, 'no partner')
        """
        from dovetail.runtime.why import why

        self._settled("why")
        stream = self._streams[self._known(stream_name)]
        table = as_table(stream, [row] if isinstance(row, dict) else row, self._needed[stream.name])
        if table.num_rows != 1:
            raise DataError(f"why: give one row of stream {stream.name!r}, got {table.num_rows}")
        return why(self._query_of(stream.name), self.operator.state(), stream, pa.table(table))

    def snapshot(self) -> bytes:
        """Everything needed to go on later with ``query.local(snapshot=...)``."""
        self._settled("snapshot")
        return pack_snapshot(self._fingerprints[0], self.operator.state())

    @property
    def late(self) -> pa.Table:
        """The diverted rows that were not taken yet: stream, reason, how late, the row.

        They are there with ``late="divert"`` (rows that are late, ahead or without a time) and with
        ``on_error="divert"`` (rows of batches that failed).
        """
        return self.operator.diverted.table()

    def take_late(self) -> pa.Table:
        """The same rows as ``late``, once: the run forgets them, and the memory that they took is free again."""
        self._settled("take_late")
        return self.operator.diverted.drain()

    def _query_of(self, stream_name: str) -> JoinQuery:
        """The first query that a row of the stream may be a result of."""
        return next(query for query in self._queries if stream_name in query.names)

    def _table(self, batches: Iterator[pa.RecordBatch]) -> pa.Table:
        return pa.Table.from_batches(batches, self._schema)

    def _to_the_end(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The results of a call, behind what was left of those before; until all are read it is in the middle of it."""
        rest, self._rest = self._rest, []
        self._pending = self._guarded(self.reporting.watch(batches, self._closed) if self.reporting else batches)
        return chain(rest, self._pending)

    def _guarded(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """If a call goes well its changes are kept; if not, they are undone."""
        try:
            yield from batches
        except GeneratorExit:
            raise  # the run itself is gone
        except BaseException as error:
            self._undo(error)
            raise
        self._pending = None
        self._lateness.look(self._streams, self.operator.lateness())
        self._keep()

    def _keep(self) -> None:
        """Take note of a state to which the run can go back."""
        if self._last_good is not None:
            self._last_good.keep(self.operator.changes())

    def _undo(self, error: BaseException) -> None:
        """The run as it was before the call that failed, or, if it keeps no such state, the reason why it has ended."""
        self._pending = None
        if self._last_good is None:
            self._failure = f"{type(error).__name__}: {error}"
        else:
            self._closed = False
            self.operator = self._new()
            self.operator.apply(self._last_good.state())

    def _or_divert(
        self, stream: Stream, rows: pa.Table, results: Callable[[], Iterator[pa.RecordBatch]]
    ) -> Iterator[pa.RecordBatch]:
        """All results of a batch, or none and its rows in the side output."""
        try:
            made = list(results())
        except MemoryError:
            raise
        except Exception as error:
            self._undo(error)
            self.operator.diverted.failed(stream, rows, error)
            return
        yield from made

    def _known(self, stream_name: str) -> str:
        if not isinstance(stream_name, str) or stream_name not in self._streams:
            raise DataError(f"the query has no stream {stream_name!r}; {nearest(stream_name, self._streams)}")
        return stream_name

    def _open(self, action: str) -> None:
        """Before a call that gives results: what was left of those before is to come out with them."""
        if self._closed:
            raise DataError(f"{action}: this run is closed. Start another with query.local().")
        self._sound(action)
        if self._pending is not None:
            self._rest = [*self._rest, *self._pending]

    def _settled(self, action: str) -> None:
        """Before an action that gives no results: none may be left."""
        self._sound(action)
        if self._pending is not None or self._rest:
            raise DataError(
                f"{action}: the results of the call before were not read to the end. Read them, or make another call "
                "first: they come out with its results."
            )

    def _sound(self, action: str) -> None:
        if self._failure is not None:
            raise DataError(
                f"{action}: a call before failed half-way ({self._failure}), and this run keeps no state to go back "
                "to. Go on from a snapshot: query.local(snapshot=...)."
            )


def carried_over(old: Plan, new: Plan, snapshot: bytes) -> bytes:
    """The snapshot of one query as one of another, which goes on from it."""
    state = unpack_snapshot(snapshot, *fingerprints(old.query))
    with readable():
        return pack_snapshot(fingerprints(new.query)[0], carry_over(old, new, state, operator_of(new).state()))


def complete_from(plan: Plan, snapshot: bytes) -> int | None:
    """The result time from which on nothing is missing that was forgotten before a change; None if nothing is."""
    state = unpack_snapshot(snapshot, *fingerprints(plan.query))
    since: int | None = read_header(state.header)["sections"]["watermarks"].get("complete_from")
    return since


def _as_us(time: datetime | int) -> int:
    if isinstance(time, datetime):
        return int(pa.scalar(time, pa.timestamp("us", tz="UTC" if time.tzinfo else None)).value)
    if isinstance(time, Integral) and not isinstance(time, bool):
        if not -(1 << 63) <= time < 1 << 63:
            raise DataError(f"{time} is not a time: microseconds since 1970 fit into 64 bits; is it in nanoseconds?")
        return int(time)
    raise DataError(f"{time!r} is not a time; give a datetime, or microseconds since 1970 as a whole number")


def _check_zone(stream: Stream, time: datetime | int) -> None:
    """A promise is made in the zone of the stream's times, or without one as they are."""
    reason = why_not(pa.scalar(time).type, stream.time_type) if isinstance(time, datetime) else None
    if reason is not None:
        raise DataError(f"advance: stream {stream.name!r} has times of {stream.time_type}, and got {time!r}: {reason}")


def collect(plan: Plan, threads: int | None = None, limit: int | None = None) -> pa.Table:
    """Run finite inputs to the end, in order of event time, or until there are so many results."""
    pushes: Iterator[Mapping[str, pa.Table | pa.RecordBatch]]
    pushes = pushes_of(plan.query.streams, plan.columns, plan.query)
    if limit is None:
        operator = operator_of(plan, Hands(threads=threads or usable_cores()))
        return pa.Table.from_batches(_run(operator, pushes), plan.query.schema)
    check_limit(limit)
    plan, whole = for_first_rows(plan.query, limit)
    pushes = in_growing_pieces(pushes, plan.query, whole)
    operator = operator_of(plan, Hands(threads=threads or 1))  # threads give results when a whole piece is done
    return pa.Table.from_batches(first(_run(operator, pushes), limit), plan.query.schema)


def _run(operator: Operator, pushes: Iterator[Mapping[str, pa.Table | pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    for push in pushes:
        yield from operator.push(push)
    yield from operator.close()
