"""The policy "spill" of an as-of join: rows that do not fit into memory go to disk, and no answer changes for it.

    flush     the oldest rows of the as-of streams leave memory, as parts; if that is not enough, rows whose answers
              are open leave too
    owe       a row whose answer may be on disk waits; one that finds the best row before it in memory does not
    pass      the rows that are owed are answered: of each part, one after the other, those rows are taken out that may
              be an answer, and these together with those in memory are asked as if there were no others
    tidy      parts that are too old for any answer are deleted; of a key on disk only what may still be an answer stays

Of some rows those that may be an answer are the best before and after each row that asks. So the best of all rows is
the best of the best of each part, whatever the parts are.

A pass is made when what is owed takes a quarter of the budget, or held output does; when what is on disk has doubled;
when inputs pause; and at the end. Rows are owed an answer that may lie in the future only once that is certain.
Until then the frontier stays where it was when nothing was owed, or at the last pass over all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.watermarks import Watermarks
from dovetail.engine.asof.result import Results
from dovetail.engine.asof.side import Asked, Side
from dovetail.engine.asof.waiting import asked_of, rows_of
from dovetail.engine.block.time_order import places_in_order
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.section import Section
from dovetail.engine.policies.asof.holdings import Holdings
from dovetail.engine.policies.asof.part import Part
from dovetail.engine.policies.asof.policy import AllInMemory
from dovetail.engine.policies.asof.section import SpilledRows
from dovetail.engine.policies.memory.account import take_them
from dovetail.engine.policies.memory.policy import Incoming
from dovetail.engine.policies.spill.pauses import Pauses
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Rows
from dovetail.errors import BudgetError
from dovetail.model.budget import Tuples
from dovetail.plan.physical import Plan
from dovetail.plan.plan_asof import sides_of

Integers = npt.NDArray[np.int64]
_LOW_WATER = 0.5  # flushing to half of the limit makes flushes rare and large
_SHARE = 0.25  # of the limit: what is owed, and held output, beyond it is worth a pass; and what a pass may load
_MOST_TURNS = 16  # in which a stream is tidied: each reads all of its parts
WHOLE = 1_000_000  # a load is told in millionths


class OnDisk(AllInMemory):
    """Rows on disk, and how they get there and back."""

    def __init__(self, plan: Plan, holdings: Holdings, store: PartStore) -> None:
        assert plan.query.answered is not None
        self._plan, self._holdings = plan, holdings
        self._name = plan.query.answered
        self._settings = {settings.name: settings for settings in sides_of(plan.query)}
        self.store = store
        self.parts: dict[int, Part] = {}
        self.next_part = 0
        self.floor = BEFORE_ALL
        self.load = WHOLE
        self.flushed = self.kept = 0  # rows since the last tidying, and those that it left
        self.counts = {"flushes": 0, "flushed_tuples": 0, "passes": 0, "disk_results": 0}
        self.pauses = Pauses()

    @property
    def streams(self) -> Sequence[str]:
        """Those whose rows may be on disk."""
        return self._plan.query.names

    @property
    def is_whole(self) -> bool:
        """Whether all rows that may be an answer are in memory."""
        return all(part.stream == self._name for part in self.parts.values())

    @property
    def earliest(self) -> int:
        """No row before this is owed its answer."""
        waiting = self._holdings.waiting.asked
        here = AFTER_ALL if self.is_whole or waiting is None else int(waiting.times[0])
        return min([here, *(part.earliest for part in self._parts_of(self._name))])

    def _parts_of(self, name: str) -> list[Part]:
        return [part for part in self.parts.values() if part.stream == name]

    @property
    def _in_tuples(self) -> bool:
        return isinstance(self._memory, Tuples)

    @property
    def _memory(self) -> int | Tuples:
        budget = self._plan.query.budget
        assert budget is not None
        assert budget.memory is not None
        return budget.memory

    @property
    def limit(self) -> int:
        """How much may be held, in bytes or in tuples."""
        given = self._memory.count if isinstance(self._memory, Tuples) else self._memory
        return max(1, given * self.load // WHOLE)

    @property
    def held(self) -> int:
        """Of a budget in tuples, those that may be an answer and those that are owed theirs."""
        return self._holdings.stored if self._in_tuples else self._holdings.nbytes

    def admit(self, incoming: Incoming) -> None:
        """What could not be flushed before must be now."""
        try:
            self._flush_sides()
            self._flush_open()
        finally:
            self.agree()
        if self.held > self.limit:
            diverted = 0 if self._in_tuples else self._holdings.inputs.diverted.nbytes
            raise BudgetError(
                f"{self.held:,} are held and cannot be flushed, and the budget is {self._plan.query.budget}. Waiting "
                "input and held output stay in memory: give it more, or advance the streams that others wait for."
                f"{take_them(diverted)}"
            )

    def found(self, asked: Asked) -> npt.NDArray[np.bool_]:
        """Which rows can be answered from memory, now and for certain."""
        found = np.ones(len(asked), np.bool_)
        if not self.is_whole:
            for name, side in self._holdings.sides.items():
                if side.asof.waits or self._parts_of(name):
                    found &= side.found_here(asked)
        return found

    def work(self, results: Results, end: int) -> Rows:
        """Flush if there is too much; answer what is owed if it is due."""
        with suppress(BudgetError):  # the batch is finished first, or its results were lost; then ``admit`` says so
            self._flush_sides()
        if self._due():
            yield from self._pass(results, end)
        with suppress(BudgetError):
            self._flush_open()
        self.pauses.now = False
        self.agree()
        if self.earliest == AFTER_ALL:
            self.floor = self._marks.frontier

    @property
    def _marks(self) -> Watermarks:
        return self._holdings.inputs.watermarks

    def _flush_sides(self) -> None:
        """The oldest rows of the streams that have most leave, until half of the limit is held."""
        for side in self._holdings.sides.values():
            side.chains.link()  # it takes memory too
        if self.held <= self.limit:
            return
        for side in sorted(self._holdings.sides.values(), key=lambda side: -side.chains.nbytes):
            excess = self.held - _LOW_WATER * self.limit
            if excess > 0 and side.chains.stored:
                self._unanswer()
                leaving = side.chains.live[: ceil(excess / self._size_of(side))]
                rows = side.chains.rows
                self._flush(side.name, rows.taken(leaving), rows.times[leaving])
                side.chains.drop(leaving)

    def _flush_open(self) -> None:
        """Rows that wait for their answers leave."""
        waiting = self._holdings.waiting
        if self.held > self.limit and waiting.asked is not None:
            self._unanswer()
            self._flush(self._name, rows_of(waiting.asked), waiting.asked.times)
            waiting.give_up()

    def _flush(self, name: str, rows: pa.RecordBatch, times: Integers) -> None:
        self._write(name, rows, times)
        self.flushed += rows.num_rows
        self.counts["flushes"] += 1
        self.counts["flushed_tuples"] += rows.num_rows

    def _unanswer(self) -> None:
        """Rows wait without answers from now on: those that they have chosen are asked for again."""
        for name, answers in self._holdings.waiting.answers.items():
            self._holdings.sides[name].chains.revive(answers.kept)
        self._holdings.waiting.answers = {}

    def _size_of(self, side: Side) -> float:
        """What a stored row takes."""
        return 1.0 if self._in_tuples else max(1.0, side.chains.nbytes / side.chains.stored)

    def _write(self, name: str, rows: pa.RecordBatch, times: Integers) -> None:
        """Rows as parts; all of them, or none and BudgetError."""
        size = 1.0 if self._in_tuples else max(1.0, rows.nbytes / rows.num_rows)
        most = max(1, int(_SHARE * self.limit / size))
        parts: list[Part] = []
        try:
            for at in range(0, rows.num_rows, most):
                piece, when = rows.slice(at, most), times[at : at + most]
                number = self.next_part + len(parts)
                self.store.write(number, piece)
                parts.append(Part(number, name, len(when), piece.nbytes, int(when.min()), int(when.max())))
        except BudgetError:
            self._delete(parts)
            raise
        self.parts |= {part.number: part for part in parts}
        self.next_part += len(parts)

    def _delete(self, parts: Iterable[Part]) -> None:
        for part in parts:
            self.store.delete(part.number)
            self.parts.pop(part.number, None)

    def _due(self) -> bool:
        if self.earliest == AFTER_ALL:
            return False
        if self.pauses.now:
            return True
        waiting = self._holdings.waiting
        ready = [part for part in self._parts_of(self._name) if self._is_ready(part.earliest)]
        rows, nbytes = sum(part.rows for part in ready), sum(part.bytes for part in ready)
        if not self.is_whole and waiting.asked is not None and self._is_ready(int(waiting.asked.times[0])):
            rows, nbytes = rows + len(waiting), nbytes + waiting.nbytes
        if not rows:
            return False
        output = len(self._holdings.output) if self._in_tuples else self._holdings.output.nbytes
        much = max(output, rows if self._in_tuples else nbytes) > _SHARE * self.limit
        return much or self._has_grown or self.held > self.limit or self._marks.frontier >= AFTER_ALL

    def _is_ready(self, earliest: int) -> bool:
        """Whether the earliest of some rows can be answered for certain, or it is not known when it can be."""
        return all(side.certain_from(earliest) <= self._marks[name] for name, side in self._holdings.sides.items())

    @property
    def _has_grown(self) -> bool:
        """Whether what is on disk has doubled."""
        return self.flushed > self.kept

    def _pass(self, results: Results, end: int) -> Rows:
        """Answer what is owed; where the order of results matters, or inputs pause, also what may not be ready."""
        owed, skipped = self._parts_of(self._name), False
        asked = None if self.is_whole else self._holdings.waiting.give_up()
        if asked is not None:
            yield from self._answered(asked, results, end)
        for part in owed:
            if not self.pauses.now and self._plan.query.order == "none" and not self._is_ready(part.earliest):
                skipped = True
                continue
            found = self._answered(asked_of(self._name, self._filled(self.store.read(part.number))), results, end)
            self._delete([part])
            with suppress(BudgetError):
                self._flush_open()
            yield from found
        self.counts["passes"] += 1
        self.pauses.settled = self.pauses.now
        if not skipped:
            self.floor = self._marks.frontier

    def _answered(self, asked: Asked, results: Results, end: int) -> list[pa.RecordBatch]:
        """Results of some rows; those whose answers are open wait again, without answers."""
        rows, still, _ = results.over(self._sides_for(asked)).settled(asked, self._marks.all(), end)
        self.counts["disk_results"] += sum(each.num_rows for each in rows)
        self._unanswer()
        self._holdings.waiting.add(still, {})
        return rows

    def _filled(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """NULL in columns that were not stored when the part was written: a query that reads them has joined since."""
        schema = self._plan.query.stream(self._name).schema
        for column in self._plan.columns[self._name]:
            if column not in rows.schema.names:
                rows = rows.append_column(schema.field(column), pa.nulls(rows.num_rows, schema.field(column).type))
        return rows

    def _sides_for(self, asked: Asked) -> dict[str, Side]:
        """Of each as-of stream the rows that may be an answer to some of these."""
        found = {}
        for name, side in self._holdings.sides.items():
            best = side.chains.rows.taken(side.candidates(asked))
            for part in self._parts_of(name):
                if side.reaches(part.earliest, part.latest, asked):
                    both = self._side_of(name, [best, self.store.read(part.number)])
                    best = both.chains.rows.taken(both.candidates(asked))
            found[name] = self._side_of(name, [best])
        return found

    def _side_of(self, name: str, rows: Sequence[pa.RecordBatch]) -> Side:
        """Some rows by themselves."""
        door, side = self._holdings.inputs.doors[name], Side(self._plan.query, self._settings[name])
        together = pa.concat_batches([each for each in rows if each.num_rows] or rows[:1])
        if together.num_rows:
            places = places_in_order(door.times_of(together))
            side.store(door.stored(together if places is None else together.take(pa.array(places))))
        return side

    def tidy(self, since: int) -> None:
        """Delete what is no answer to any row that is not before ``since``."""
        sides = self._holdings.sides
        for name, side in sides.items():
            self._delete([part for part in self._parts_of(name) if part.latest < side.needed_from(since)])
            if side.gives_way and self._has_grown and len(self._parts_of(name)) > 1:
                with suppress(BudgetError):  # it stays as it is
                    self._rewrite(side, since)
        if self._has_grown:
            self.flushed, self.kept = 0, sum(part.rows for name in sides for part in self._parts_of(name))
        self.agree()

    def _rewrite(self, side: Side, since: int) -> None:
        """Write anew what may still be an answer; some keys at a time, so that not all rows are in memory at once."""
        old, door = self._parts_of(side.name), self._holdings.inputs.doors[side.name]
        rows = sum(part.rows for part in old)
        turns = min(_MOST_TURNS, max(1, ceil(rows / max(part.rows for part in old))))
        before = set(self.parts)
        try:
            for turn in range(turns):
                left: pa.RecordBatch | None = None
                for part in old:
                    some = self._of_turn(side, self.store.read(part.number), turn, turns)
                    left = self._side_of(side.name, [some] if left is None else [left, some]).left(since)
                if left is not None and left.num_rows:
                    self._write(side.name, left, door.times_of(left))
        except BudgetError:
            self._delete([part for number, part in self.parts.items() if number not in before])
            raise
        self._delete(old)

    def _of_turn(self, side: Side, rows: pa.RecordBatch, turn: int, turns: int) -> pa.RecordBatch:
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        return rows.filter(pa.array(side.codes(columns, rows.num_rows) % turns == turn))

    def held_back(self, frontier: int) -> int:
        """The frontier, or as long as results are owed, how far it had come when none were."""
        return frontier if self.earliest == AFTER_ALL else min(frontier, self.floor)

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> None:
        """Note whether inputs pause."""
        self.pauses.tick(now_us, arrived)

    def awaits(self) -> bool:
        """Whether results are owed that a pause of the inputs leaves time for."""
        return self.earliest != AFTER_ALL and not self.pauses.settled

    def share(self, load: float, weight: float) -> None:
        """More or less of the budget, by the load; at first it has had no part yet."""
        before = self.load if self.load < WHOLE else load * WHOLE
        self.load = max(1, int(before + weight * (load * WHOLE - before)))

    def agree(self) -> None:
        """Rows that wait have answers if and only if all that may be one is in memory."""
        waiting = self._holdings.waiting
        if not self.is_whole:
            self._unanswer()
        elif not waiting.answers:
            waiting.answer(self._holdings.sides, self._marks.all())

    def close(self) -> None:
        """Remove the files."""
        self.store.close()

    def sections(self) -> Sequence[Section]:
        """Parts, and what is known of them."""
        return [SpilledRows(self)]

    def metrics(self) -> dict[str, Any]:
        """What is held and what was spilled."""
        parts = self.parts.values()
        return {
            "policy": "spill",
            "limit": self.limit,
            "held": self.held,
            "spilled": sum(part.rows for part in parts),
            "spilled_bytes": sum(part.bytes for part in parts),
            "parts": len(parts),
            **self.counts,
        }
