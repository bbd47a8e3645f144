"""The join itself, inside Spark's stateful operator: one engine per bucket, its state in the state store.

One batch of one bucket:

    read      packed rows, in order of arrival (source partition, then sequence): blocks and heartbeats
    recall    the cached engine if its token is the state's; else catch up on what it missed; else load everything
    join      push; results leave while the push runs
    save      new slices, deleted slices, head with a new token; only then is the engine cached under it
    report    one row of counters

A batch that only the clock has caused ends after the recall if nothing waits for the time.

Invariant: the state is written after the last result has left, and the token last. An attempt that
dies before leaves the committed state as it was, and its engine, taken out of the cache, is forgotten.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd
import pyarrow as pa

from dovetail.control.steered import Steered
from dovetail.control.steered_group import group_of as group_of_plan
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.section import Changes, SliceKey
from dovetail.engine.operator.asof import AsOfOperator
from dovetail.engine.operator.asof_group import AsOfGroup
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.group import Setup
from dovetail.engine.operator.snapshot import unpack_snapshot
from dovetail.engine.operator.state import read_header
from dovetail.errors import StateError
from dovetail.model.statistics import Statistics
from dovetail.observe.statistics_report import statistics_report
from dovetail.plan.physical import Plan
from dovetail.plan.share_queries import SharedPlan
from dovetail.runtime.operator_of import Hands, operator_of, shaped
from dovetail.runtime.spark.arrivals import Arrivals, read_arrivals
from dovetail.runtime.spark.cache import ENGINES, BucketKey, Cached
from dovetail.runtime.spark.frontier_row import heartbeat
from dovetail.runtime.spark.identity import Identity
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.left_files import LeftLearned, LeftSlices
from dovetail.runtime.spark.output import Output
from dovetail.runtime.spark.query_set import SECTION as QUERIES
from dovetail.runtime.spark.query_set import ChangingGroup, group_of
from dovetail.runtime.spark.report import Report
from dovetail.runtime.spark.spilled_state import StateParts
from dovetail.runtime.spark.state import STATE, BucketState, Head
from dovetail.runtime.spark.streaming_run import query_id
from dovetail.runtime.spark.variables import Variables
from dovetail.runtime.spark.worker_memory import give_back, settle
from dovetail.runtime.wall_stopwatch import WallStopwatch

LEAST_LOAD = 0.1  # of an equal part of the budget is each bucket's whatever it gets, lest its windows starve
PIECE_BYTES = 64 << 20  # of a batch are copied and joined at a time: a worker's memory does not grow with its batches
RECENT_LOAD = 0.25  # of the load that counts is the last batch's: windows hold what several have brought


@dataclass(frozen=True)
class Job:
    """What the operator of one pipeline must know; a value that travels to the workers.

    ``run`` tells the operators of a query apart in a worker's cache, ``ended`` names the streams that are static tables
    (all of their rows come before the first batch), ``once`` says that every stream is: one batch, then the end;
    ``diverts`` asks for the rows that did not come in instead of the results; and with ``relays_us`` the results are a
    stream of another operator, with this delay. ``shared`` says that the plan is the
    union of several queries, and which; with ``changes`` others come and go while it runs. ``leaves_files``: all
    workers are on one machine.
    """

    plan: Plan
    identity: Identity
    layouts: Layouts
    run: str
    ended: tuple[str, ...] = ()
    once: bool = False
    diverts: bool = False
    relays_us: int | None = None
    shared: SharedPlan | None = None
    changes: bool = False
    leaves_files: bool = False

    @property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """Of each stream, those that packers send: all of them where queries may come that want others."""
        stored = self.plan.columns
        return {s.name: tuple(s.schema.names) if self.changes else stored[s.name] for s in self.plan.query.streams}

    @property
    def paced(self) -> bool:
        """Whether rows wait for CPU time, which passes before they are joined."""
        return self.plan.query.budget is not None and self.plan.query.budget.cpu is not None

    @property
    def cuts(self) -> bool:
        """Whether rows of a batch may be joined in pieces of time: not where their order of arrival matters.

        Nor where the rest of the batch does, to know which lie too far ahead or how much there is time for.
        """
        query = self.plan.query
        plain = all(stream.dedup is None and stream.ahead_us is None for stream in query.streams)
        return plain and query.budget is None and query.late != "divert"

    @property
    def spills(self) -> bool:
        """Whether the state store also holds what does not fit into the memory of a worker."""
        budget = self.plan.query.budget
        return budget is not None and budget.memory is not None and budget.policy == "spill" and not self.once

    def operator(self, parts: StateParts) -> Operator:
        """A new operator; what it spills goes to ``parts``."""
        if self.shared is not None:
            setup = self._setup(parts)
            return ChangingGroup.of_set(self.shared, setup) if self.changes else group_of_plan(self.shared, setup)
        stopwatch = WallStopwatch(self.plan.query.order)
        hands = Hands(stopwatch, store=parts if self.spills else None)
        return operator_of(self.plan, hands) if self.plan.query.answered is not None else shaped(self.plan, hands)

    def _setup(self, parts: StateParts) -> Setup:
        return Setup(WallStopwatch(), store=parts if self.spills else None)

    def loaded(self, parts: StateParts, slices: Mapping[SliceKey, pa.RecordBatch], header: bytes) -> Operator:
        """An operator that goes on from a state."""
        if self.shared is not None and self.changes:
            return group_of(self.shared, self._setup(parts), slices, header)
        operator = self.operator(parts)
        operator.apply(Changes(dict(slices), [], header))
        return operator


class JoinOperator:
    """The work of one task: all of its buckets, one after the other."""

    def __init__(self, job: Job, output: Output, variables: Variables) -> None:
        settle("joining")
        self._job = job
        self._output = output
        self._state = BucketState(variables, LeftSlices.here() if job.leaves_files else None)
        self._learned = LeftLearned.here(job.run) if job.leaves_files and job.paced else None
        self._query_id = query_id()
        layout = job.layouts.here()
        self._description = f"{job.identity.text}\n  {layout}"
        self._fingerprints = job.identity.fingerprints(layout)

    def begin(self, bucket: int, rows: pd.DataFrame) -> None:
        """Before the first batch: a state to go on from, or rows of static inputs, whose streams then advance."""
        if STATE in rows:
            self._restore(bytes(rows[STATE].iloc[0]))
            return
        arrivals = read_arrivals([rows], self._job.columns)
        report = Report(bucket, arrivals)
        head, cached = self._recall(report)
        silent = dict.fromkeys(arrivals.newest, BEFORE_ALL)
        for _ in cached.operator.push(arrivals.blocks(), silent, {}):  # tables say nothing about how far streams are
            raise AssertionError("static inputs alone cannot make a result")
        self._save(head, cached, report)

    def _restore(self, snapshot: bytes) -> None:
        """Write what was left elsewhere as the state of this bucket; an operator must be able to go on from it."""
        state = unpack_snapshot(snapshot, str(self._job.layouts.here()))
        self._new("").operator.apply(state)
        self._state.save(None, self._fingerprints[0], self._description, state)

    def process(self, bucket: int, rows: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """One batch, or none but the time that has passed: its results, and a report."""
        arrivals = read_arrivals(rows, self._job.columns)
        report = Report(bucket, arrivals)
        head, cached = self._recall(report)
        if arrivals.queries is not None and isinstance(cached.operator, ChangingGroup):
            slices, header = ({}, b"") if head is None else (self._state.load_all(), head.header)
            cached = replace(cached, operator=cached.operator.followed_by(arrivals.queries, slices, header))
        if arrivals.nothing and (arrivals.now is None or not cached.operator.awaits(arrivals.now)):
            if head is not None:
                ENGINES.put(self._key(bucket), cached)
            return
        yield from self._batch(head, cached, arrivals, report)

    def _batch(self, head: Head | None, cached: Cached, arrivals: Arrivals, report: Report) -> Iterator[pd.DataFrame]:
        operator = cached.operator
        self._share_budget(operator, arrivals, report.bucket)
        if isinstance(operator, Steered):
            operator.controller.begin_batch()
        results = report.timed("join", self._results(operator, arrivals))
        if self._job.diverts:
            results = self._diverted(operator, results)
        yield from self._output.rows(report.counted(results), report.bucket)
        operator.diverted.drain()  # nobody else asks for them
        if isinstance(operator, Steered):
            self._learn_from_others(operator, report.bucket)
            operator.controller.end_batch()
        if not self._job.once:
            self._save(head, cached, report)
        self._leave_learned(operator, report.bucket)
        known = next((readings.observed.statistics() for readings in operator.statistics()), Statistics({}))
        metrics = operator.metrics() | {"statistics": statistics_report(known)}
        yield self._output.report(json.dumps(report.finished(metrics)))

    def _results(self, operator: Operator, arrivals: Arrivals) -> Iterator[pa.RecordBatch]:
        for name in self._job.ended:
            yield from operator.advance(name, AFTER_ALL)
        if arrivals.now is not None and self._job.paced:
            yield from operator.tick(arrivals.now)
        yield from self._pushed(operator, arrivals)
        if arrivals.now is not None and not self._job.paced:
            yield from operator.tick(arrivals.now)
        if self._job.once:
            yield from operator.close()
        elif self._job.relays_us is not None:
            yield from heartbeat(self._job.plan.query.schema, operator.frontier, self._job.relays_us)

    def _pushed(self, operator: Operator, arrivals: Arrivals) -> Iterator[pa.RecordBatch]:
        """All rows, and how far the streams have come; of a large batch, rows in pieces and then how far."""
        if not self._job.cuts or arrivals.bytes <= PIECE_BYTES:
            yield from operator.push(arrivals.blocks(), arrivals.newest, arrivals.spans)
            return
        times = {stream.name: stream.time for stream in self._job.plan.query.streams}
        for piece in arrivals.pieces(times, PIECE_BYTES):
            yield from operator.push(piece, {}, {})
        yield from operator.push({}, arrivals.newest, arrivals.spans)
        give_back()

    def _share_budget(self, operator: Operator, arrivals: Arrivals, bucket: int) -> None:
        """Its part of the query's budget: as much as it has of late had of the load, and some whatever it had."""
        told = arrivals.loads
        if told is None or len(told) == 1 or not told.any():
            return
        own = float(told[self._job.layouts.here().numbers.index(bucket)] / told.sum())
        now = LEAST_LOAD / len(told) + (1 - LEAST_LOAD) * own
        if isinstance(operator, AsOfOperator | AsOfGroup):
            operator.share(now, RECENT_LOAD)
        for readings in operator.statistics():
            before = readings.decision.load if readings.decision.load < 1 else now  # 1: it has had no part yet
            assert isinstance(operator, Steered), "operators with a budget are steered"
            operator.adopt(replace(readings.decision, load=before + RECENT_LOAD * (now - before)))

    def _learn_from_others(self, operator: Steered, bucket: int) -> None:
        """What other buckets have learned about the streams decides too what is left out here."""
        if self._learned is not None and operator.controller.cpu is not None:
            operator.controller.cpu.control.elsewhere = self._learned.by_others(bucket)

    def _leave_learned(self, operator: Operator, bucket: int) -> None:
        if self._learned is not None and isinstance(operator, Steered) and operator.controller.cpu is not None:
            self._learned.leave(bucket, operator.controller.cpu.control.correlations.to_json())

    def _diverted(self, operator: Operator, results: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that did not come in, instead of the results."""
        for _ in results:
            pass
        yield from operator.diverted.drain().to_batches()

    def _recall(self, report: Report) -> tuple[Head | None, Cached]:
        """An operator that agrees with the state, and that finds there what it has spilled."""
        head, cached = self._found(report)
        cached.parts.bind(self._state.parts)
        return head, cached

    def _found(self, report: Report) -> tuple[Head | None, Cached]:
        """The operator, by the cheapest way that is safe."""
        with report.phase("load"):
            head = self._state.head(self._fingerprints, self._description)
            if head is None:
                report.recalled = "new"
                return None, self._new("")
            lineage = head.lineage
            cached = ENGINES.checkout(
                self._key(report.bucket), head.token, lambda token: lineage.since(token) is not None
            )
            if cached and cached.token == head.token:
                report.recalled = "cached"
                return head, cached
            if cached and self._catch_up(cached, head):
                report.recalled = "caught up"
                return head, cached
            report.recalled = "loaded"
            parts = StateParts()
            return head, Cached(head.token, self._job.loaded(parts, self._state.load_all(), head.header), parts)

    def _new(self, token: str) -> Cached:
        parts = StateParts()
        return Cached(token, self._job.operator(parts), parts)

    def _key(self, bucket: int) -> BucketKey:
        return self._query_id, self._job.run, bucket

    def _catch_up(self, cached: Cached, head: Head) -> bool:
        """Apply the batches that an operator missed; False if they are too many, or if it ends up unlike the state.

        Tuples that came and went while it was away leave a gap that slices do not tell of; its header does, or what was
        spilled meanwhile does not fit. One with other queries than the state's is made anew.
        """
        missed = head.lineage.since(cached.token)
        if missed is None:
            return False
        load, drop = missed
        if any(section == QUERIES for section, _ in load):
            return False
        changes = Changes(self._state.load(load, head), drop, head.header)
        try:
            cached.operator.apply(changes)
        except StateError:
            return False
        left = cached.operator.changes()
        return not left.new and not left.gone and read_header(left.header) == read_header(head.header)

    def _save(self, head: Head | None, cached: Cached, report: Report) -> None:
        with report.phase("save"):
            changes = cached.operator.changes()
            token, report.written = self._state.save(head, self._fingerprints[0], self._description, changes)
            ENGINES.put(self._key(report.bucket), replace(cached, token=token))
