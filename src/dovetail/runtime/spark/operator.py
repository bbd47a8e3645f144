"""The join itself, inside Spark's stateful operator: one engine per bucket, its state in the state store.

One batch of one bucket:

    read      packed rows, in order of arrival (source partition, then sequence): blocks and heartbeats
    recall    the cached engine if its token is the state's; else catch up on what it missed; else load everything
    join      push; results leave as blobs while the push runs
    save      new slices, deleted slices, head with a new token; only then is the engine cached under it
    report    one row of counters

A batch that only the clock has caused ends after the recall if nothing waits for the time.

Invariant: the state is written after the last result has left, and the token last. An attempt that
dies before leaves the committed state as it was, and its engine, taken out of the cache, is forgotten.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import pandas as pd
import pyarrow as pa

from dovetail.control.schedule import schedule_windows
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.slices import Changes
from dovetail.engine.operator.engine import Engine
from dovetail.engine.operator.shared import SharedEngine
from dovetail.kernel import cpu_time
from dovetail.model.order import Adaptive
from dovetail.observe.statistics_report import statistics_report
from dovetail.plan.physical import Plan
from dovetail.plan.share_queries import SharedPlan
from dovetail.runtime.adapting import Adapting, WallStopwatch
from dovetail.runtime.replanning import Replanning
from dovetail.runtime.spark.arrivals import Arrivals, read_arrivals
from dovetail.runtime.spark.blob import in_pieces
from dovetail.runtime.spark.cache import ENGINES, BucketKey, Cached
from dovetail.runtime.spark.chain import heartbeat
from dovetail.runtime.spark.identity import fingerprint
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.output import Output
from dovetail.runtime.spark.parts import StateParts
from dovetail.runtime.spark.report import Report
from dovetail.runtime.spark.state import BucketState, Head
from dovetail.runtime.spark.streaming_run import query_id
from dovetail.runtime.spark.variables import Variables
from dovetail.runtime.spark.worker_memory import keep_memory

RESULT_BYTES = 8 << 20


@dataclass(frozen=True)
class Job:
    """What the operator of one pipeline must know; a value that travels to the workers.

    ``run`` tells the operators of a query apart in a worker's cache, ``ended`` names the streams that are static tables
    (all of their rows come before the first batch), ``once`` says that every stream is: one batch, then the end;
    ``diverts`` asks for the rows that did not come in instead of the results; and with ``relays_us`` the results are a
    stream of another operator, with this delay. ``shared`` says that the plan is the
    union of several queries, and which.
    """

    plan: Plan
    description: str
    layouts: Layouts
    run: str
    ended: tuple[str, ...] = ()
    once: bool = False
    diverts: bool = False
    relays_us: int | None = None
    shared: SharedPlan | None = None

    @property
    def spills(self) -> bool:
        """Whether the state store also holds what does not fit into the memory of a worker."""
        budget = self.plan.query.budget
        return budget is not None and budget.memory is not None and budget.policy == "spill" and not self.once

    def engine(self) -> Engine:
        """A new engine."""
        if self.shared is not None:
            return SharedEngine(self.shared, WallStopwatch(), schedule=schedule_windows(self.shared))
        engine = Engine(self.plan, WallStopwatch(self.plan.query.order), store=StateParts() if self.spills else None)
        Replanning(engine)
        return engine


class JoinOperator:
    """The work of one task: all of its buckets, one after the other."""

    def __init__(self, job: Job, output: Output, variables: Variables) -> None:
        keep_memory()
        self._job = job
        self._output = output
        self._state = BucketState(variables)
        self._query_id = query_id()
        self._description = f"{job.description}\n  {job.layouts.here()}"
        self._fingerprint = fingerprint(self._description)

    def begin(self, bucket: int, rows: pd.DataFrame) -> None:
        """Rows of static inputs, before the first batch; their streams advance once all have come."""
        arrivals = read_arrivals([rows], self._job.plan)
        report = Report(bucket, arrivals)
        head, engine = self._recall(report)
        silent = dict.fromkeys(arrivals.newest, BEFORE_ALL)
        for _ in engine.push(arrivals.blocks, silent, {}):  # tables say nothing about how far streams have come
            raise AssertionError("static inputs alone cannot make a result")
        self._save(head, engine, report)

    def take(self, bucket: int, rows: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """One batch, or none but the time that has passed: its results, and a report."""
        arrivals = read_arrivals(rows, self._job.plan)
        report = Report(bucket, arrivals)
        head, engine = self._recall(report)
        if arrivals.nothing and not engine.awaits(arrivals.now):
            if head is not None:
                ENGINES.put(self._key(bucket), Cached(head.token, engine))
            return
        yield from self._batch(head, engine, arrivals, report)

    def _batch(self, head: Head | None, engine: Engine, arrivals: Arrivals, report: Report) -> Iterator[pd.DataFrame]:
        results = report.timed("join", self._results(engine, arrivals))
        if self._job.diverts:
            results = self._diverted(engine, results)
        for piece in in_pieces(report.counted(results), RESULT_BYTES):
            yield self._output.rows(piece)
        engine.diverted.take()
        if not self._job.once:
            self._save(head, engine, report)
        metrics = engine.metrics() | {"statistics": statistics_report(engine.observed.statistics())}
        if engine.pacer is not None:
            metrics["budget"] = engine.pacer.metrics()
        yield self._output.report(json.dumps(report.finished(metrics)))

    def _results(self, engine: Engine, arrivals: Arrivals) -> Iterator[pa.RecordBatch]:
        for name in self._job.ended:
            yield from engine.advance(name, AFTER_ALL)
        push = partial(engine.push, arrivals.blocks, arrivals.newest, arrivals.spans)
        yield from self._adapted(engine, self._paced(engine, push, arrivals.now) if engine.shedding else push())
        if arrivals.now is not None and engine.shedding is None:
            yield from engine.tick(arrivals.now)
        if self._job.once:
            yield from engine.close()
        elif self._job.relays_us is not None:
            yield from heartbeat(engine, self._job.relays_us)

    def _paced(
        self, engine: Engine, push: Callable[[], Iterator[pa.RecordBatch]], now: int | None
    ) -> Iterator[pa.RecordBatch]:
        """Under a CPU budget: what waited and what comes, as far as the time since the last batch allows."""
        budget = self._job.plan.query.budget
        assert budget is not None
        from dovetail.runtime.cpu_budget import CpuBudget  # its solvers take a while to load

        cpu = CpuBudget(engine, budget, cpu_time)
        if now is not None:
            yield from cpu.tick(now)
        yield from cpu.around(push)
        cpu.save()

    def _diverted(self, engine: Engine, results: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that did not come in, instead of the results."""
        for _ in results:
            pass
        yield from engine.diverted.take().to_batches()

    def _adapted(self, engine: Engine, results: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Under the adaptive order, decide after the batch where the next one waits."""
        order = self._job.plan.query.order
        return Adapting(engine, order.alpha).around(results) if isinstance(order, Adaptive) else results

    def _recall(self, report: Report) -> tuple[Head | None, Engine]:
        """An engine that agrees with the state, and that finds there what it has spilled."""
        head, engine = self._found(report)
        if isinstance(engine.store, StateParts):
            engine.store.bind(self._state.parts)
        return head, engine

    def _found(self, report: Report) -> tuple[Head | None, Engine]:
        """The engine, by the cheapest way that is safe."""
        with report.phase("load"):
            head = self._state.head(self._fingerprint, self._description)
            if head is None:
                report.recalled = "new"
                return None, self._job.engine()
            lineage = head.lineage
            cached = ENGINES.take(self._key(report.bucket), head.token, lambda token: lineage.since(token) is not None)
            if cached and cached.token == head.token:
                report.recalled = "cached"
                return head, cached.engine
            if cached and self._catch_up(cached, head):
                report.recalled = "caught up"
                return head, cached.engine
            report.recalled = "loaded"
            engine = self._job.engine()
            engine.apply(Changes(dict(self._state.load_all()), [], head.header))
            return head, engine

    def _key(self, bucket: int) -> BucketKey:
        return self._query_id, self._job.run, bucket

    def _catch_up(self, cached: Cached, head: Head) -> bool:
        """Apply the batches that an engine missed; False if they are too many, or if it does not end up like the state.

        Tuples that came and went while it was away leave a gap that slices do not tell of; its header does.
        """
        missed = head.lineage.since(cached.token)
        if missed is None:
            return False
        load, drop = missed
        cached.engine.apply(Changes(self._state.load(load), drop, head.header))
        left = cached.engine.changes()
        return not left.new and not left.gone and json.loads(left.header) == json.loads(head.header)

    def _save(self, head: Head | None, engine: Engine, report: Report) -> None:
        with report.phase("save"):
            changes = engine.changes()
            token, report.written = self._state.save(head, self._fingerprint, self._description, changes)
            ENGINES.put(self._key(report.bucket), Cached(token, engine))
