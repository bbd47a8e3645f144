"""A group: one operator for many queries, the join of their union and an exit that routes results to queries.

    push      the way of any block, over the largest windows; then: route -> hold -> rows named by their query
    work      arrivals that were suspended look through their next stage, the most urgent first
    changed   the same state under another set of queries

Every tuple is stored with the ``epoch`` in which it arrived: how often the set of queries had changed by then. State
written by one set of queries can be taken over by another: columns that were not stored are NULL in old
tuples, and who needs them looks at new tuples only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.door import Lateness, Read
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.block.block import interleave
from dovetail.engine.buffer.section import Changes, HeaderSection, SliceKey, Slices, whole_numbers
from dovetail.engine.combine.staged import StagedProbe, Suspended
from dovetail.engine.deliver.desk import number_of
from dovetail.engine.deliver.route import MEMBERSHIP, inner_schema
from dovetail.engine.deliver.shared_exit import SharedExit, shared_exit
from dovetail.engine.deliver.shared_hold import SharedHold
from dovetail.engine.operator.agenda import Agenda
from dovetail.engine.operator.engine import Engine, Rows
from dovetail.engine.operator.readings import Readings
from dovetail.engine.operator.state import State, read_header
from dovetail.engine.operator.stopwatch import Stopwatch
from dovetail.engine.operator.subscriptions import Progress, Subscriptions
from dovetail.engine.policies.memory.trim import Trim
from dovetail.engine.policies.shed.query_accounts import QueryAccounts
from dovetail.engine.policies.shed.shedding import Shedding
from dovetail.engine.policies.spill.store import PartStore
from dovetail.model.decision import Decision
from dovetail.model.expression import Column
from dovetail.model.output import Output
from dovetail.model.schedule import Schedule
from dovetail.plan.physical import Plan
from dovetail.plan.share_queries import SharedPlan, window_sizes

LOOK_EVERY = 16  # pushes, one goes in one pass: stages are not measured
MANY_ARRIVALS = 1024  # a pass per stage over more than so many costs more than what leaves a little earlier is worth


@dataclass
class Worked:
    """What the last piece of work was: a stage of some arrivals, and how many results it found."""

    stream: str
    stage: int
    found: int = 0


@dataclass(frozen=True)
class Setup:
    """How the engine of a group is made; ``eager`` False: a push only takes arrivals in, and someone calls work()."""

    stopwatch: Stopwatch | None = None
    block_rows: int | None = None
    eager: bool = True
    store: PartStore | None = None


class Group:
    """The operator of some queries; its rows are ``query``, ``result_time``, then the columns of all."""

    def __init__(self, shared: SharedPlan, schedule: Schedule | None = None, setup: Setup | None = None) -> None:
        self.shared = shared
        self.setup = setup or Setup()
        subscriptions = Subscriptions.of(shared)
        exit_of = shared_exit(shared, subscriptions.places)
        stopwatch, block_rows = self.setup.stopwatch, self.setup.block_rows
        self._engine = Engine(
            with_epochs(shared.plan, shared.plan.query.names), stopwatch, block_rows, self.setup.store, exit_of
        )
        self._line = self._engine.line
        self._members = Members(subscriptions, self._hold)
        self.worked = Worked("", 0)
        self._at_once, self._pushes = False, 0
        self._limited = shared.plan.query.budget is not None
        self._left: list[SliceKey] = []  # in the state, of queries that have left
        self._follow(schedule or Schedule((window_sizes(shared.plan.query),), (0,)))
        self._renew_router()

    @property
    def _exit(self) -> SharedExit:
        exit = self._line.exit
        assert isinstance(exit, SharedExit), "made by shared_exit"
        return exit

    @property
    def _hold(self) -> SharedHold:
        return self._exit.hold

    @property
    def subscriptions(self) -> Subscriptions:
        """Who takes part, and from when on."""
        return self._members.subscriptions

    def _follow(self, schedule: Schedule) -> None:
        """In which order arrivals look through the windows from now on."""
        store = self._line.store
        self._staged_plan = store.plan
        sizes = {stream.name: stream.window for stream in store.plan.query.streams}
        self._agenda = Agenda(schedule)
        self._staged = {
            name: StagedProbe(name, levels, store.windows, store.widths, sizes, schedule.stages)
            for name, levels in store.plan.probes.items()
        }

    def _renew_router(self) -> None:
        told = self.subscriptions
        self._exit.routing.renew(self.shared, told.places, told.certain, self._line.store)
        self._state = State([*self._engine.sections(), self._members])
        if self._accounts is not None:
            self._accounts.renew([each.number for each in told.places])
        stages = [self._agenda.schedule.stage_of(window_sizes(member.query)) for member in self.shared.members]
        self._hold.renew(self.shared, told.places, stages)

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch, as of any operator."""
        self._pushes += 1
        many = sum(rows.num_rows for rows in blocks.values()) > MANY_ARRIVALS
        self._at_once = many or self._pushes % LOOK_EVERY == 0
        stamped = {name: self._with_epoch(rows) for name, rows in blocks.items()}
        return self._push(self._line.read(stamped), newest, spans)

    def _push(self, read: Mapping[str, Read], newest: Mapping[str, int] | None, spans: Spans | None) -> Rows:
        self._line.admit(read, newest, spans)
        yield from self._proceed()

    def _with_epoch(self, rows: Batch) -> Batch:
        return rows.append_column(MEMBERSHIP, pa.repeat(pa.scalar(self.subscriptions.epoch, pa.int32()), rows.num_rows))

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        self._line.promise(name, time_us)
        yield from self._proceed()

    def tick(self, now_us: int) -> Rows:
        """It is now this time."""
        self._line.tick(now_us)
        yield from self._proceed()

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""
        self._line.end()
        yield from self._proceed()
        while self._agenda:
            yield from self.work()
        self._line.memory.close()

    def _proceed(self) -> Rows:
        """All arrivals are taken in and then worked off by urgency; with one stage, or many at once, in one pass."""
        if self.setup.eager and (self._at_once or not self._agenda.schedule.last or self._limited):
            self._hold.limits = None
            yield from self._engine.proceed()
            return
        if not self._agenda:
            self._engine.take_up()
            if self._staged_plan is not self._line.store.plan:
                self._follow(self._agenda.schedule)
        self._take_in()
        yield from self._settle()
        while self._agenda and self.setup.eager:
            yield from self.work()

    def _take_in(self) -> None:
        """Store what may be joined now, and suspend it before its first stage."""
        windows = self._line.store.windows
        for name, block, _ in interleave(self._line.release(), self.setup.block_rows):
            first, last = self._line.stored(name, block)
            ends = {other: window.end - window.hidden for other, window in windows.items() if other != name}
            if self._line.finds:
                self._agenda.add(Suspended(name, first, last, int(block.times[0]), ends))
            self._line.store.joined[name] += len(block)

    def work(self) -> Rows:
        """The most urgent arrivals look through their next stage; then what is certain leaves."""
        arrivals = self._agenda.next()
        self.worked = Worked(arrivals.stream, arrivals.stage)
        for found in self._staged[arrivals.stream].stage(arrivals):
            self.worked.found += len(found)
            yield from self._line.deliver(found)
        arrivals.stage += 1
        self._agenda.add(arrivals)
        yield from self._settle()

    @property
    def suspended(self) -> int:
        """How many arrivals have not looked through all windows yet."""
        return self._agenda.arrivals

    def _settle(self) -> Rows:
        """Suspended arrivals are still to come, as far as windows and held results are concerned."""
        pending = self._agenda.pending()
        self._hold.limits = self._agenda.limits(min(self._line.inputs.reach({}).values())) if pending else None
        yield from self._line.settle(pending, suspended=True)

    def adopt(self, decision: Decision) -> None:
        """Go on as decided, from the next block on."""
        self._engine.adopt(decision)

    @property
    def _accounts(self) -> QueryAccounts | None:
        """What each query misses under a budget."""
        policy = self._line.shedding if isinstance(self._line.shedding, Shedding) else self._line.memory
        return policy.queries if isinstance(policy, Shedding | Trim) else None

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of its streams."""
        return self.shared.plan.query.names

    def progress(self) -> dict[str, dict[str, Any]]:
        """How far each stream has come, for a group that starts later."""
        return self._line.inputs.progress()

    def start_late(self, progress: Mapping[str, Mapping[str, Any]]) -> None:
        """Begin with the progress that other groups have seen: what is late for them is late here."""
        latest = self._line.inputs.start_late(progress)
        self._members.subscriptions = Subscriptions.late(self.shared, latest)
        self._renew_router()

    @property
    def frontier(self) -> int:
        """No stream will send anything older, and no result before it is still owed."""
        return self._line.frontier

    def changed(self, shared: SharedPlan, schedule: Schedule | None = None) -> "Group":
        """An operator for other queries that goes on from here; this one itself if what is stored stays the same."""
        if shared.plan.query == self.shared.plan.query:
            self.shared = shared
            self._follow(schedule or Schedule((window_sizes(shared.plan.query),), (0,)))
            self._hold.pile.change(lambda rows: fit(rows, inner_schema(shared)))
            self._members.subscriptions = self.subscriptions.changed(shared, self._progress())
            self._renew_router()
            return self
        other = Group(shared, schedule, self.setup)
        other.apply(self.state())
        self._line.memory.close()
        return other

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        self._engine.pause()
        changes, left = self._state.changes(), self._left
        self._left = []
        return replace(changes, gone=[*changes.gone, *left]) if left else changes

    def state(self) -> Changes:
        """All of the state, without taking note of having written it."""
        self._engine.pause()
        return self._state.all()

    def apply(self, changes: Changes) -> None:
        """Take over the state of this group, whoever its queries were."""
        sections = read_header(changes.header)["sections"]
        inputs = self._line.inputs
        inputs.watermarks.restore(sections["watermarks"])
        inputs.latest = int(sections["inputs"]["latest"])
        before = Subscriptions.from_state(sections["group"]["subscriptions"], self.streams).recognised(self.shared)
        fits = before.fit(self.shared)
        self._members.subscriptions = before if fits else before.changed(self.shared, self._progress())
        self._renew_router()
        numbers = {each.number for each in self.subscriptions.places}
        kept = {key: rows for key, rows in changes.new.items() if number_of(key[0]) in {None, *numbers}}
        self._left += changes.new.keys() - kept.keys()
        self._state.apply(Changes(self._fitted(kept), changes.gone, changes.header))
        self._line.check_settled()

    def _progress(self) -> Progress:
        inputs = self._line.inputs
        return Progress(inputs.latest, {name: inputs.watermarks.others(name) for name in self._line.store.windows})

    def _fitted(self, slices: Slices) -> Slices:
        """Slices with the columns of today: what they lack is NULL, what nobody reads any more goes."""
        fitted = {}
        for (section, number), rows in slices.items():
            schema = self._schema_of(section)
            fitted[section, number] = rows if schema is None else fit(rows, schema)
        return fitted

    def _schema_of(self, section: str) -> pa.Schema | None:
        """Of rows whose columns depend on which queries there are."""
        kind, _, stream = section.partition("/")
        if kind == self.diverted.section:
            return self.diverted.schema
        if kind == "held":
            return inner_schema(self.shared)
        return self._stored_schema(stream) if kind in ("window", "waiting") else None

    def _stored_schema(self, stream: str) -> pa.Schema:
        plan = self._line.store.plan
        declared = plan.query.stream(stream).schema
        return pa.schema([declared.field(name) for name in plan.storage[stream].columns])

    def statistics(self) -> tuple[Readings, ...]:
        """Of its one engine, with the names of the queries."""
        names = tuple(each.name for each in self.subscriptions.places)
        return tuple(replace(each, queries=names) for each in self._engine.statistics())

    @property
    def diverted(self) -> Diverted:
        """The rows that did not come in, with the epoch that is stored with them."""
        return self._line.inputs.diverted

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped."""
        return self._line.inputs.lateness()

    def awaits(self, now_us: int) -> bool:
        """Whether it would matter to be told the time."""
        return self._line.awaits(now_us)

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far; of each query the rows it got, those that wait, and from when it is complete."""
        waiting, complete = self._exit.waiting(), self._completeness()
        queries = {
            each.name: {
                "results": self._hold.delivered[each.name],
                "held": waiting[each.name],
                "complete_from": each.complete_from,
                **complete.get(each.number, {}),
            }
            for each in self.subscriptions.places
        }
        return self._engine.metrics() | {"queries": queries}

    def _completeness(self) -> dict[int, dict[str, float]]:
        """By number, what each query misses and how complete it is, with bands; empty if nothing is left out."""
        (readings,), accounts = self._engine.statistics(), self._accounts
        if accounts is None:
            return {}
        found = accounts.estimates(readings.estimate)
        if (
            readings.trimmed is not None and readings.estimate.blind
        ):  # else the sample tells of each query's own windows
            found = {number: readings.trimmed.estimate_of(each) for number, each in found.items()}
        kept = ("missed", "missed_low", "missed_high", "completeness", "completeness_low", "completeness_high")
        reports = {number: each.report() for number, each in found.items()}
        return {number: {name: each[name] for name in kept} for number, each in reports.items()}


class Members(HeaderSection):
    """Who takes part in a group, and how many rows each has got: part of the state."""

    section = "group"

    def __init__(self, subscriptions: Subscriptions, hold: SharedHold) -> None:
        self.subscriptions = subscriptions
        self._hold = hold

    def header(self) -> dict[str, Any]:
        return {"subscriptions": self.subscriptions.state(), "delivered": dict(self._hold.delivered)}

    def restore(self, header: dict[str, Any]) -> None:
        """How many rows each has got; who takes part was read before, because slices are read with it in mind."""
        self._hold.delivered = Counter(whole_numbers(header["delivered"]))


def fit(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Rows with these columns: NULL where they have none."""
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    arrays = [
        columns[field.name] if field.name in columns and columns[field.name].type == field.type
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def with_epochs(plan: Plan, names: Sequence[str]) -> Plan:
    """The plan with one more stored column for each of these streams."""
    query = plan.query
    epoch = pa.field(MEMBERSHIP, pa.int32())
    streams = tuple(
        replace(each, schema=each.schema.append(epoch)) if each.name in names else each for each in query.streams
    )
    seen = [stream.name for stream in query.seen if stream.name in names]
    select = tuple(Output(f"{name}.{MEMBERSHIP}", Column(name, MEMBERSHIP, pa.int32())) for name in seen)
    storage = {
        name: replace(each, columns=tuple(dict.fromkeys([*each.columns, MEMBERSHIP]))) if name in names else each
        for name, each in plan.storage.items()
    }
    return replace(plan, query=replace(query, streams=streams, select=(*query.select, *select)), storage=storage)
