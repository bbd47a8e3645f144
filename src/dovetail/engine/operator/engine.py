"""The engine: one multi-way operator that joins one block after the other; no Spark, no clock, no threads.

    push      read -> admit -> gate -> store -> probe -> exit -> settle, for each piece of the batch in order of time
    advance   a promise about one stream's future
    tick      processing time, for streams that fall silent
    close     the end of all input
    changes   new slices, gone slices, header: the only form of state (``apply`` takes it back)

Invariant: a result is made by its member that was stored last, so exactly once, however the input is cut or
interleaved. Example, windows of 10 s, k equal:

    push A k=1 at 3      stored; B is empty                    nothing
    push B k=1 at 9      stored; A's tuple at 3 >= 9 - 10      (A 3, B 9), result time 9

Between two blocks the engine is whole: there it takes up the decision it was last given. Whoever reads the results may
look at ``statistics`` between any two batches of them; so that there is an occasion, an empty batch comes whenever a
reading was taken and whenever the rows that the pace allowed have been joined.
"""

from collections.abc import Mapping
from typing import Any, Self

import pyarrow as pa

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.door import Lateness, Read
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.block.block import interleave
from dovetail.engine.buffer.section import Changes, Section, SliceKey
from dovetail.engine.deliver.exit import exit_of
from dovetail.engine.operator.adopted import Adopted
from dovetail.engine.operator.line import ExitOf, Line
from dovetail.engine.operator.readings import Readings
from dovetail.engine.operator.state import State
from dovetail.engine.operator.stopwatch import Stopwatch as Stopwatch
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Rows as Rows
from dovetail.model.decision import Decision
from dovetail.plan.physical import Plan

_ALL_ROWS = 1 << 60  # more rows than can wait
# A probe walks past tuples of its own block that are still to come or were pushed out in it, so blocks are small; with
# a thousand tuples the cost of a block itself hardly shows.
_BLOCK_BESIDE_ROW_WINDOWS = 1 << 10
_BLOCK_OF_LITTLE_MEMORY = 1 << 12  # tuples between two looks at how much is held, under a memory budget


class Engine:
    """One multi-way operator.

    A ``stopwatch`` measures time spent per stream. ``block_rows`` is how many tuples of a batch are joined at a time;
    with 1 it is the tuple-at-a-time algorithm of the papers, and the results are the same. What does not fit into the
    memory of a budget with the policy "spill" goes to ``store``, or to files.
    """

    def __init__(
        self,
        plan: Plan,
        stopwatch: Stopwatch | None = None,
        block_rows: int | None = None,
        store: PartStore | None = None,
        exit_of: ExitOf = exit_of,
    ) -> None:
        self.line = Line(plan, stopwatch, store, exit_of)
        budget = plan.query.budget
        limited = budget is not None and budget.memory is not None
        beside_rows = _BLOCK_BESIDE_ROW_WINDOWS if self.line.store.row_windows else None
        self._block_rows = block_rows or (_BLOCK_OF_LITTLE_MEMORY if limited else beside_rows)
        self._nothing = pa.RecordBatch.from_pylist([], plan.query.schema)
        self._adopted = Adopted(self.line)
        self._readings = Readings(self.line, self._adopted.latest)
        self._state = State(self.sections())

    @property
    def plan(self) -> Plan:
        """The plan in force."""
        return self.line.store.plan

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch of one or several streams.

        ``newest`` and ``spans`` give the streams' largest times, and all of their times, if known from elsewhere. The
        results must be read to the end: storing and expiry go along with them. Rows that do not fit their stream are
        found before anything has changed.
        """
        return self._push(self.line.read(blocks), newest, spans)

    def _push(self, read: Mapping[str, Read], newest: Mapping[str, int] | None, spans: Spans | None) -> Rows:
        self.line.admit(read, newest, spans)
        yield from self.proceed()

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        self.line.promise(name, time_us)
        yield from self.proceed()

    def tick(self, now_us: int) -> Rows:
        """It is now this time, by the clock of whoever runs the engine."""
        self.line.tick(now_us)
        yield from self.proceed()

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""
        self.line.end()
        yield from self.proceed()
        self.line.memory.close()

    def proceed(self) -> Rows:
        """Join what may be joined now, then settle what is certain; under a budget, piece by piece while it lasts."""
        self._adopted.take_up({})
        while self.line.opens(_ALL_ROWS if self.line.pace is None else self.line.pace.rows):
            yield from self._pass_on()
            yield self._nothing
        yield from self._pass_on()

    def _pass_on(self) -> Rows:
        line = self.line
        blocks = line.release()
        if blocks:
            if line.settles_first(blocks):
                yield from line.settle({name: int(block.times[0]) for name, block in blocks.items()})
            for name, block, pending in interleave(blocks, self._block_rows):
                yield from line.join(name, block)
                yield from line.memory.work(pending)
                if pending:
                    yield from line.settle(pending, name)
                if line.observed.due:
                    line.observe()
                    yield self._nothing
                self._adopted.take_up(blocks)
        yield from line.memory.work({})
        yield from line.settle({}, next(iter(blocks)) if len(blocks) == 1 else None)
        self._adopted.take_up({})

    def adopt(self, decision: Decision) -> None:
        """Go on as decided: with its pace at once, with all else from the next block on."""
        self._adopted.adopt(decision)

    def take_up(self) -> None:
        """Follow what was decided, between two calls."""
        self._adopted.take_up({})

    def fill(self, name: str, rows: pa.RecordBatch) -> None:
        """Store rows of a stream without joining them: they have met what came before elsewhere."""
        self.line.stored(name, self.line.inputs.doors[name].stored(rows))

    def statistics(self) -> tuple[Readings, ...]:
        """What control and reports may read."""
        if self._readings.decision is not self._adopted.latest:
            self._readings = Readings(self.line, self._adopted.latest)
        return (self._readings,)

    def sections(self) -> list[Section]:
        """Everything that survives, in the order in which it is read back."""
        return [*self.line.sections(), self._adopted]

    @property
    def frontier(self) -> int:
        """No stream will send anything older, and no result before it is still owed."""
        return self.line.frontier

    @property
    def diverted(self) -> Diverted:
        """The rows that did not come in and that nobody has taken yet."""
        return self.line.inputs.diverted

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped."""
        return self.line.inputs.lateness()

    def awaits(self, now_us: int) -> bool:
        """Whether it would matter to be told the time."""
        return self.line.awaits(now_us)

    def pause(self) -> None:
        """Be whole between two calls, and go on as whoever reads the state back would.

        What was decided is in force, results that wait are rows, and the gate is open as far as it was made use of:
        what a CPU budget lets through next follows from the state.
        """
        self._adopted.take_up({})
        if self.line.shedding.paced:
            self.line.adopt_rest(self._adopted.in_force)
            self.line.restart_pace()
        self.line.exit.hold.materialise()

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        self.pause()
        return self._state.changes()

    def state(self) -> Changes:
        """All of the state, without taking note of having written it."""
        self.pause()
        return self._state.all()

    def apply(self, changes: Changes) -> None:
        """Take over what another engine of the same plan did to the same state."""
        self._state.apply(changes)
        self.line.check_settled()

    @classmethod
    def restore(cls, plan: Plan, slices: Mapping[SliceKey, pa.RecordBatch], header: bytes) -> Self:
        """An engine that goes on where the state was written."""
        engine = cls(plan)
        engine.apply(Changes(dict(slices), [], header))
        return engine

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far, and the plan in force."""
        return self.line.metrics() | {"plan": self._adopted.in_force.plan_json()}
