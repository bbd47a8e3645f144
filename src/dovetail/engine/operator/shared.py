"""One engine for many queries: the join of their union, and an exit that routes results to queries.

    push      the engine's own path, over the largest windows; then: route -> hold -> rows named by their query
    changed   the same state under another set of queries

Every tuple is stored with the ``epoch`` in which it arrived: how often the set of queries had changed by then. State
written by one set of queries can be taken over by another: columns that were not stored are NULL in old
tuples, and who needs them looks at new tuples only.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from dovetail.engine.admit.horizon import Span
from dovetail.engine.block.block import interleave
from dovetail.engine.buffer.slices import Changes, SliceKey
from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.staged import StagedProbe, Suspended
from dovetail.engine.deliver.ages import Ages
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.route import EPOCH, Router, inner_schema
from dovetail.engine.deliver.shared_hold import SharedHold
from dovetail.engine.operator.agenda import Agenda
from dovetail.engine.operator.engine import Engine, Rows, Stopwatch
from dovetail.engine.operator.subscriptions import Progress, Subscriptions
from dovetail.model.expression import Column
from dovetail.model.output import Output
from dovetail.model.schedule import Schedule
from dovetail.plan.physical import Plan
from dovetail.plan.share_queries import SharedPlan, window_sizes

MANY_ARRIVALS = 1024


@dataclass
class Worked:
    """What the last piece of work was: a stage of some arrivals, and how many results it found."""

    stream: str
    stage: int
    found: int = 0


class SharedExit(Projection):
    """Verifies like any exit, then routes."""

    router: Router

    def rows(self, results: Partial) -> Rows:
        return self.router.rows(results)


class SharedEngine(Engine):
    """The operator of a group of queries; its rows are ``query``, ``result_time``, then the columns of all."""

    _hold: SharedHold
    _exit: SharedExit

    def __init__(
        self,
        shared: SharedPlan,
        stopwatch: Stopwatch | None = None,
        block_rows: int | None = None,
        schedule: Schedule | None = None,
    ) -> None:
        super().__init__(_with_epochs(shared.plan), stopwatch, block_rows)
        self.shared = shared
        self.deferring = False  # whether a push only takes arrivals in, and someone else calls work()
        self.worked = Worked("", 0)
        self._at_once = False
        self.subscriptions = Subscriptions.of(shared)
        self._hold = SharedHold(shared, self.subscriptions.places, self._gather)
        others = [section for section in self._sections if section.section != self._hold.pile.section]
        self._sections = [*others, self._hold.pile]
        self._exit = SharedExit(self.plan, self._windows)
        self._follow(schedule or Schedule((window_sizes(shared.plan.query),), (0,)))
        self._renew_router()

    def _follow(self, schedule: Schedule) -> None:
        """In which order arrivals look through the windows from now on."""
        sizes = {stream.name: stream.window for stream in self.plan.query.streams}
        self._agenda = Agenda(schedule)
        self._staged = {
            name: StagedProbe(name, levels, self._windows, self._widths, sizes, schedule.stages)
            for name, levels in self.plan.probes.items()
        }

    def _renew_router(self) -> None:
        ages = Ages(self.plan.query, self._windows, self._rows, self._row_check)
        told = self.subscriptions
        self._exit.router = Router(self.shared, told.places, told.certain, self._windows, ages)
        stages = [self._agenda.schedule.stage_of(window_sizes(member.query)) for member in self.shared.members]
        self._hold.renew(self.shared, told.places, stages)

    def push(
        self,
        blocks: Mapping[str, pa.Table | pa.RecordBatch],
        newest: Mapping[str, int] | None = None,
        spans: Mapping[str, Sequence[Span]] | None = None,
    ) -> Rows:
        """One batch, as of any engine."""
        self._at_once = sum(rows.num_rows for rows in blocks.values()) > MANY_ARRIVALS
        return super().push({name: self._with_epoch(rows) for name, rows in blocks.items()}, newest, spans)

    def _with_epoch(self, rows: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        return rows.append_column(EPOCH, pa.repeat(pa.scalar(self.subscriptions.epoch, pa.int32()), rows.num_rows))

    def _proceed(self) -> Rows:
        """All arrivals are taken in and then worked off by urgency.

        With one stage it is as in any engine. So it is with many arrivals at once: they look through all windows in
        one pass, because a pass per stage would cost more than what leaves a little earlier is worth.
        """
        if not self.deferring and (self._at_once or not self._agenda.schedule.last):
            yield from super()._proceed()
            return
        self._take_in()
        yield from self._settle({})
        while self._agenda and not self.deferring:
            yield from self.work()

    def _take_in(self) -> None:
        """Store what may be joined now, and suspend it before its first stage."""
        blocks = self._gate.release(self._watermarks)
        for name in self._rows.keys() & blocks.keys():
            self._store_ahead(name, blocks[name])
        for name, block, _ in interleave(blocks, self._block_rows):
            first, last = self._store(name, block)
            ends = {other: window.end - window.hidden for other, window in self._windows.items() if other != name}
            self._agenda.add(Suspended(name, first, last, int(block.times[0]), ends))
            self.joined[name] += len(block)

    def work(self) -> Rows:
        """The most urgent arrivals look through their next stage; then what is certain leaves."""
        arrivals = self._agenda.next()
        self.worked = Worked(arrivals.stream, arrivals.stage)
        for found in self._staged[arrivals.stream].stage(arrivals):
            self.worked.found += len(found)
            yield from self._deliver(found)
        arrivals.stage += 1
        self._agenda.add(arrivals)
        yield from self._settle({})

    @property
    def suspended(self) -> bool:
        """Whether arrivals have not looked through all windows yet."""
        return bool(self._agenda)

    def _settle(self, pending: Mapping[str, int], joined: str | None = None) -> Rows:
        """Suspended arrivals are still to come, as far as windows and held results are concerned."""
        if not self._agenda:
            self._hold.limits = None
            yield from super()._settle(pending)
            return
        certain = min(min(self._watermarks[name], self._gate.earliest(name)) for name in self._windows)
        self._hold.limits = self._agenda.limits(certain)
        yield from super()._settle(self._agenda.pending())

    def _forget(self, name: str, others: int) -> None:
        """Arrivals that are suspended are still needed, even if no tuple to come could join them."""
        if name not in self._agenda.pending():
            super()._forget(name, others)

    def changed(self, shared: SharedPlan, schedule: Schedule | None = None) -> "SharedEngine":
        """An engine for other queries that goes on from here; this one itself if what is stored stays the same."""
        if shared.plan.query == self.shared.plan.query:
            self.shared = shared
            self._follow(schedule or Schedule((window_sizes(shared.plan.query),), (0,)))
            self._hold.pile.change(lambda rows: _fit(rows, inner_schema(shared)))
            self.subscriptions = self.subscriptions.changed(shared, self._progress())
            self._renew_router()
            return self
        other = SharedEngine(shared, self._stopwatch, self._block_rows, schedule)
        slices, header = self.state()
        other.apply(Changes(slices, [], header))
        return other

    def apply(self, changes: Changes) -> None:
        """Take over the state of this group, whoever its queries were."""
        header = json.loads(changes.header)
        before = Subscriptions.from_state(header["shared"])
        self._watermarks.restore(header["watermarks"])
        self._latest = header["latest"]
        self.subscriptions = before if before.fit(self.shared) else before.changed(self.shared, self._progress())
        self._renew_router()
        super().apply(Changes(self._fitted(changes.new), changes.gone, changes.header))

    def _progress(self) -> Progress:
        return Progress(self._latest, {name: self._watermarks.others(name) for name in self._windows})

    def _fitted(self, slices: Mapping[SliceKey, pa.RecordBatch]) -> dict[SliceKey, pa.RecordBatch]:
        """Slices with the columns of today: what they lack is NULL, what nobody reads any more goes."""
        fitted = {}
        for (section, number), rows in slices.items():
            kind, _, name = section.partition("/")
            fitted[section, number] = _fit(rows, self._schema_of(kind, name))
        return fitted

    def _schema_of(self, kind: str, stream: str) -> pa.Schema:
        if kind == self.diverted.section:
            return self.diverted.schema
        return inner_schema(self.shared) if kind == "held" else self._stored_schema(stream)

    def _stored_schema(self, stream: str) -> pa.Schema:
        declared = self.plan.query.stream(stream).schema
        return pa.schema([declared.field(name) for name in self.plan.storage[stream].columns])

    def _header(self) -> bytes:
        own = {"shared": self.subscriptions.state(), "delivered": self._hold.delivered}
        return json.dumps(json.loads(super()._header()) | own).encode()

    def _restore(self, header: Mapping[str, Any]) -> None:
        super()._restore(header)
        self._hold.delivered = Counter(header["delivered"])

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far; of each query the rows it got, those that wait, and from when it is complete."""
        waiting = self._hold.waiting()
        queries = {
            each.name: {
                "results": self._hold.delivered[each.name],
                "held": waiting[each.name],
                "complete_from": each.complete_from,
            }
            for each in self.subscriptions.places
        }
        return super().metrics() | {"queries": queries}


def _fit(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    arrays = [
        columns[field.name] if field.name in columns and columns[field.name].type == field.type
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _with_epochs(plan: Plan) -> Plan:
    """The plan with one more stored column per stream."""
    query = plan.query
    epoch = pa.field(EPOCH, pa.int32())
    streams = tuple(replace(stream, schema=stream.schema.append(epoch)) for stream in query.streams)
    select = tuple(Output(f"{name}.{EPOCH}", Column(name, EPOCH, pa.int32())) for name in query.names)
    storage = {
        name: replace(each, columns=tuple(dict.fromkeys([*each.columns, EPOCH]))) for name, each in plan.storage.items()
    }
    return replace(plan, query=replace(query, streams=streams, select=(*query.select, *select)), storage=storage)
