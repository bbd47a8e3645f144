"""The operator of as-of joins: each row of one stream with the best row of every other, once that is certain.

    push      read -> admit -> wait -> store settled rows -> answer rows -> results, in order if asked
    work      rows that do not fit into memory go to disk; what was owed for that is answered
    settle    rows that can be no answer any more are forgotten

Rows wait at the gate until time has passed them: a row of an as-of stream until nothing at or before its time can come
from its stream, a row to be answered until no as-of stream can send anything at or before its time. So answers never
change, and the order of arrival makes no difference. Where an answer may lie in the future (forward, nearest) the row
waits on, until it has come or the tolerance has passed.

A result is certain once every stream is known up to its result time. So in order of that time all results up to the
frontier can leave.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.door import REASONS, Lateness, Read
from dovetail.engine.admit.inputs import Batch, Inputs, Spans
from dovetail.engine.asof.result import Results
from dovetail.engine.asof.side import Asked, Side
from dovetail.engine.asof.stored import Stored
from dovetail.engine.asof.waiting import Waiting, undecided
from dovetail.engine.block.block import Block
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL, NEVER
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.section import Changes, HeaderSection, Section, whole_numbers
from dovetail.engine.deliver.hold import result_times
from dovetail.engine.operator.readings import Readings
from dovetail.engine.operator.state import State
from dovetail.engine.policies.asof.holdings import Holdings
from dovetail.engine.policies.asof_policy import asof_policy
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Rows
from dovetail.model.decision import Decision
from dovetail.plan.physical import Attribute, Plan, Storage
from dovetail.plan.plan_asof import sides_of


class _Shelf:
    """What a door must know of where rows will stand."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def vector_width(self, attribute: Attribute) -> int:
        return 0


class _Given(HeaderSection):
    """How many results have left, and up to which time they have: the largest frontier but that of the end."""

    section = "delivered"

    def __init__(self) -> None:
        self.results = 0
        self.frontier = BEFORE_ALL

    def header(self) -> dict[str, Any]:
        return {"results": self.results, "frontier": self.frontier}

    def restore(self, header: dict[str, Any]) -> None:
        counts = whole_numbers(header)
        self.results, self.frontier = counts["results"], counts["frontier"]


class AsOfOperator:
    """One as-of join of any number of streams; what leaves the memory of a budget goes to ``store``, or to files."""

    def __init__(self, plan: Plan, store: PartStore | None = None) -> None:
        query = plan.query
        assert query.answered is not None
        self.plan = plan
        self._name = query.answered
        self.inputs = Inputs(query, {name: _Shelf(storage) for name, storage in plan.storage.items()})
        self.inputs.gate.pace()  # everything waits
        self.sides = {settings.name: Side(query, settings) for settings in sides_of(query)}
        self._results = Results(query, list(self.sides.values()))
        self._waiting = Waiting(self._name)
        self._ordered = query.order != "none"
        self._held = Pile("held", result_times, BEFORE_ALL, query.schema.names)
        self._given = _Given()
        self._holdings = Holdings(self.inputs, self.sides, self._waiting, self._held)
        self._memory = asof_policy(plan, self._holdings, store)
        self._state = State(self.sections())

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch of one or several streams; rows that do not fit are found before anything has changed."""
        self._memory.admit(blocks)
        return self._push(self.inputs.read(blocks), newest, spans)

    def _push(self, read: Mapping[str, Read], newest: Mapping[str, int] | None, spans: Spans | None) -> Rows:
        farthest, largest = self.inputs.look(read, newest, spans)
        for name, rows in read.items():
            columns, times, seen = self.inputs.admit(name, rows, farthest.get(name, AFTER_ALL))
            self.inputs.wait(name, columns, times)
            if seen is not None:
                largest[name] = max(seen, largest.get(name, seen))
        for name, time in largest.items():
            self.inputs.watermarks.saw(name, time)
        yield from self._proceed()

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        self.inputs.promise(name, time_us)
        yield from self._proceed()

    def tick(self, now_us: int) -> Rows:
        """It is now this time."""
        self.inputs.watermarks.tick(now_us)
        self._memory.tick(self.inputs.watermarks.clock.passed, self.inputs.arrived())
        yield from self._proceed()

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""
        self.inputs.watermarks.close()
        yield from self._proceed()
        self._memory.close()

    def _proceed(self) -> Rows:
        marks = self.inputs.watermarks
        if marks.frontier < NEVER:
            self._given.frontier = marks.frontier
        limits = {name: marks[name] - 1 for name in self.sides}
        ripe = (
            limits[name] - side.asof.offset_us + (not side.asof.equal and not side.asof.waits)
            for name, side in self.sides.items()
        )
        limits[self._name] = max(min(ripe), BEFORE_ALL)
        blocks = self.inputs.gate.release_until(limits)
        for name, side in self.sides.items():
            if name in blocks:
                side.store(blocks[name])
        yield from self._given_out([*self._resolved(), *self._answered(blocks.get(self._name))])
        for rows in self._memory.work(self._results, self._end):
            yield from self._given_out([rows])
        since = min(marks[self._name], self.inputs.gate.earliest(self._name), self._memory.earliest)
        for name, side in self.sides.items():
            side.forget(since, self._waiting.answers.get(name))
        self._memory.tidy(since)
        yield from self._given_out([])

    def _resolved(self) -> Rows:
        """What has waited, and is certain now."""
        asked = self._waiting.asked
        if asked is None or not self._memory.is_whole:
            return
        for name, side in self.sides.items():
            if side.asof.waits:
                side.resolve(asked, self._waiting.answers[name], self.inputs.watermarks[name])
        self._waiting.keep_all_but(np.flatnonzero(self._results.hopeless(self._waiting.answers)))
        if len(self._waiting):
            certain = np.flatnonzero(~undecided(list(self._waiting.answers.values())))
            if len(certain):
                yield from self._results.rows(*self._waiting.take(certain), self._end)

    def _answered(self, block: Block | None) -> Rows:
        """Rows that have just become ripe."""
        if block is None:
            return
        asked = Asked({(self._name, name): each for name, each in block.columns.items()}, block.times, block.eligible)
        found = self._memory.found(asked)
        if not found.all():
            self._waiting.add(asked.at(np.flatnonzero(~found)), {})
            asked = asked.at(np.flatnonzero(found))
        if not len(asked):
            return
        rows, still, answers = self._results.settled(asked, self.inputs.watermarks.all(), self._end)
        self._waiting.add(still, answers)
        yield from rows

    @property
    def _end(self) -> int:
        """The time of what waits to the end: not before anything that came in, or that may have left in order."""
        return max(self.inputs.latest, self._given.frontier)

    def _given_out(self, results: list[pa.RecordBatch]) -> Rows:
        """Results leave, or wait until nothing older can follow."""
        for rows in results:
            if rows.num_rows:
                if self._ordered:
                    self._held.add(rows)
                else:
                    self._given.results += rows.num_rows
                    yield rows
        due = self._held.release(max(self.frontier, self._held.limit)) if self._ordered else None
        if due is not None:
            self._given.results += due.num_rows
            yield due

    def statistics(self) -> tuple[Readings, ...]:
        """There is nothing to control."""
        return ()

    def adopt(self, decision: Decision) -> None:
        """There is nothing to decide."""

    def sections(self) -> list[Section]:
        """Its parts of the state."""
        doors = self.inputs.doors
        stored = [Stored(side, doors[name].stored) for name, side in self.sides.items()]
        return [*self.inputs.sections(), *stored, self._waiting, self._held, self._given, *self._memory.sections()]

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        return self._state.changes()

    def state(self) -> Changes:
        """All of the state, without taking note of having written it."""
        return self._state.all()

    def apply(self, changes: Changes) -> None:
        """Take over what another operator of the same plan did to the same state."""
        self._state.apply(changes)
        self.resume()

    def resume(self) -> None:
        """Answer again the rows that wait: those that they had chosen may stand elsewhere."""
        self._waiting.read_back()
        if self._memory.is_whole:
            self._waiting.answer(self.sides, self.inputs.watermarks.all())
        self._memory.agree()

    @property
    def diverted(self) -> Diverted:
        """The rows that did not come in and that nobody has taken yet."""
        return self.inputs.diverted

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped."""
        return self.inputs.lateness()

    def awaits(self, now_us: int) -> bool:
        """Whether it would matter to be told the time."""
        return self._memory.awaits() or self.inputs.watermarks.awaits(now_us)

    def share(self, load: float, weight: float) -> None:
        """Such a part of the query's load is this operator's of late, and of its budget."""
        self._memory.share(load, weight)

    @property
    def frontier(self) -> int:
        """No stream will send anything older, and no result before it is still owed."""
        return self._memory.held_back(self.inputs.watermarks.frontier)

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far."""
        diverted, account = self.inputs.diverted, self._memory.metrics()
        return {
            "streams": {name: self._stream_metrics(name) for name in self.inputs.doors},
            "results": self._given.results,
            "late_results": 0,
            "held": len(self._held),
            "held_bytes": self._held.nbytes,
            "waiting_bytes": self._holdings.arriving_bytes,
            "order": "hold" if self._ordered else "none",
            "frontier": self.frontier,
            "bytes": self._holdings.nbytes,
            **({"diverted": diverted.metrics()} if diverted.wanted else {}),
            **({"memory": account} if account else {}),
        }

    def _stream_metrics(self, name: str) -> dict[str, Any]:
        door, side = self.inputs.doors[name], self.sides.get(name)
        chains = None if side is None else side.chains
        return {
            **({} if side is None else {"awaited_by": self._awaiting(name, side)}),
            **{reason: door.counts[reason] for reason in REASONS},
            "lateness_us": door.needed_us,
            "watermark": self.inputs.watermarks[name],
            "stored": len(self._waiting) if chains is None else chains.stored,
            "bytes": self._waiting.nbytes if chains is None else chains.nbytes,
            "waiting": len(self.inputs.gate.piles[name]),
        }

    def _awaiting(self, name: str, side: Side) -> int:
        """How many rows wait until this stream has come past their time."""
        pile = self.inputs.gate.piles[self._name]
        behind = self.inputs.watermarks[name] - side.asof.offset_us
        return int(np.count_nonzero(pile.times >= behind)) if len(pile) else 0
