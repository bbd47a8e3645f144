"""One as-of stream: which of its rows answers a row of the answered stream, and which can be forgotten.

    store     settled rows, in order of time; of those that share time and key the one with the largest values last
    answer    rows of the answered stream, none of which the stream can still send anything before
    resolve   rows whose answer is open: what has come since may settle it, or none can come any more
    forget    rows that can be no answer to any row still to come

A row of time t may be answered once the stream will send nothing at or before t. For ``forward`` and ``nearest`` the
answer may come later: it is open until a row that settles it has come, or until the watermark has reached ``due``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.derive import derive
from dovetail.engine.admit.door import chosen
from dovetail.engine.asof.answers import Answers, due_us
from dovetail.engine.asof.chains import Chains
from dovetail.engine.asof.conditions import is_true, met
from dovetail.engine.asof.order_ties import order_ties
from dovetail.engine.asof.rows import StoredRows
from dovetail.engine.block.block import Block
from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.slots import SlotTable
from dovetail.engine.evaluate.compiled import compiled
from dovetail.model.expression import Expression, columns_of
from dovetail.model.orderable import orderable
from dovetail.model.predicate import operands
from dovetail.model.query import JoinQuery
from dovetail.plan.levels import is_exact
from dovetail.plan.physical import Key
from dovetail.plan.plan_asof import Side as Settings

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Small = npt.NDArray[np.int32]
_FARTHEST = 1 << 61  # a tolerance that no two times are apart


@dataclass(frozen=True)
class Asked:
    """Rows to be answered: columns by stream and name, times in order, and which can be answered (None: all)."""

    columns: Mapping[tuple[str, str], pa.Array]
    times: Integers
    eligible: Flags | None = None

    def __len__(self) -> int:
        return len(self.times)

    def at(self, rows: Integers) -> "Asked":
        """Some of the rows."""
        some = pa.array(rows)
        eligible = None if self.eligible is None else self.eligible[rows]
        return Asked({name: array.take(some) for name, array in self.columns.items()}, self.times[rows], eligible)


class Side:
    """One as-of stream of a query."""

    def __init__(self, query: JoinQuery, settings: Settings) -> None:
        stream = query.stream(settings.name)
        self.name, self.asof = settings.name, settings.asof
        self._own, self._bound, self._conditions = settings.own, settings.bound, settings.conditions
        self._judged, self._offset = settings.judged, self.asof.offset_us
        self._within = _FARTHEST if self.asof.tolerance_us is None else self.asof.tolerance_us
        used = query.columns_used(settings.name) - {stream.time}
        self._compared = [f.name for f in stream.schema if f.name in used and orderable(f.type)]
        hashed = settings.own is not None and _is_hashed(settings.own)
        types = [expression.type for expression in settings.own.expressions] if hashed and settings.own else []
        self.chains = Chains(StoredRows(stream.schema, query.columns_read(settings.name)), SlotTable(types))
        self._asks_for = {c for each in self._conditions for side in operands(each) for c in columns_of(side)}
        self._asks_for |= {c for each in self._judged or () for c in columns_of(each)}

    def store(self, block: Block) -> None:
        """Settled rows in order of time, none before those stored; of a table those that have a key."""
        own, times = block.columns, block.times
        codes, valid = np.zeros(len(block), np.int64), None
        if self._own is not None:
            codes, valid = derive(self._own, self._named(own), len(block))
        if valid is not None and not valid.all():
            own, times, codes = chosen(own, valid), times[valid], codes[valid]
        slots = self.chains.slots.of(codes, self._keys(self._own, self._named(own), len(times)), adds=True)
        places = order_ties(own, times, slots, self._compared)
        if places is not None:
            order = pa.array(places)
            own, slots = {name: array.take(order) for name, array in own.items()}, slots[places]
        self.chains.append(own, times, slots)

    def _named(self, columns: Mapping[str, pa.Array]) -> dict[tuple[str, str], pa.Array]:
        return {(self.name, name): array for name, array in columns.items()}

    def answer(self, asked: Asked, reach: int) -> Answers:
        """The answers to some rows, as far as a stream that has come as far as ``reach`` can give them."""
        slots, times = self._slots_of(asked, self.asof.waits), asked.times + self._offset
        none = np.full(len(asked), -1, np.int64)
        if self.asof.direction == "backward":
            chosen = self._before(asked, slots)
            return Answers(chosen, np.zeros(len(asked), np.bool_), times, slots, times)
        chosen = self._before(asked, slots) if self.asof.direction == "nearest" else none
        answers = Answers(chosen, np.ones(len(asked), np.bool_), self._due(times, chosen), slots, times)
        self.resolve(asked, answers, reach)
        return answers

    def resolve(self, asked: Asked, answers: Answers, reach: int) -> None:
        """Settle what can be settled of answers that are open."""
        asked_for = asked.times + self._offset
        since = np.maximum(asked_for + self.asof.gap_us, answers.seen)
        due = answers.due <= reach
        ready = answers.open & (due | (self.chains.newest(answers.slots, BEFORE_ALL) >= since))
        answers.seen = np.full(len(asked), reach)
        rows = np.flatnonzero(ready)
        if not len(rows):
            return
        some = asked if len(rows) == len(asked) else asked.at(rows)
        after = self._after(some, answers.slots[rows], since[rows])
        before, times = answers.chosen[rows], self.chains.rows.times
        if len(times):
            own = asked_for[rows]
            nearer = (before < 0) | (own - times[before] > times[after] - own)
            answers.chosen[rows] = np.where((after >= 0) & nearer, after, before)
        answers.open[rows] = ~due[rows] & (after < 0)

    def candidates(self, asked: Asked) -> Integers:
        """Which rows stored here may be answers, whatever is stored elsewhere: of a table whatever their conditions."""
        slots, found = self._slots_of(asked, adds=False), []
        if self.asof.direction != "forward":
            found.append(self._latest(asked, slots))
        if self.asof.waits:
            found.append(self._after(asked, slots, asked.times + (self._offset + self.asof.gap_us)))
        rows = np.unique(np.concatenate(found))
        return rows[rows >= 0]

    def found_here(self, asked: Asked) -> Flags:
        """Which rows have an answer here that no older row can take away: the best of those before them."""
        if self.asof.waits:
            return np.zeros(len(asked), np.bool_)
        return self._latest(asked, self._slots_of(asked, adds=False)) >= 0

    def reaches(self, earliest: int, latest: int, asked: Asked) -> bool:
        """Whether rows between these times may be answers to some of those, which are in order of time."""
        back = 0 if self.asof.direction == "forward" else self._within
        ahead = self._within if self.asof.waits else 0
        first, last = int(asked.times[0]) + self._offset, int(asked.times[-1]) + self._offset
        return earliest <= last + ahead and latest >= first - back

    def certain_from(self, time: int) -> int:
        """From which watermark on a row of this time has its answer whatever comes; unknown without a tolerance."""
        within = self.asof.tolerance_us
        return BEFORE_ALL if within is None or not self.asof.waits else time + self._offset + within + 1

    def needed_from(self, since: int) -> int:
        """Rows before this are no answer to any that is not before ``since``."""
        return since + self._offset - (0 if self.asof.direction == "forward" else self._within)

    @property
    def gives_way(self) -> bool:
        """Whether a row is the answer to nothing that comes after its successor."""
        return self.asof.direction != "forward" and (self._judged is not None or not self._conditions)

    def forget(self, since: int, waiting: Answers | None) -> None:
        """No row before ``since`` will be asked for; answers that wait keep the rows they have chosen."""
        chains = self.chains
        self._let_go(since)
        if chains.cluttered:
            pinned = np.empty(0, np.int64) if waiting is None else waiting.kept
            asked = np.empty(0, np.int32) if waiting is None else waiting.slots[waiting.slots >= 0]
            places, numbers = chains.clear(pinned, asked)
            if waiting is not None:
                waiting.move(places, numbers)

    def _let_go(self, since: int) -> None:
        self.chains.expire(self.needed_from(since))
        if self.gives_way:
            self.chains.give_way(since + self._offset - self.asof.gap_us)

    def left(self, since: int) -> pa.RecordBatch:
        """The rows that may be answers to one that is not before ``since``."""
        self._let_go(since)
        return self.chains.rows.taken(self.chains.live)

    def codes(self, columns: Mapping[str, pa.Array], length: int) -> Integers:
        """Numbers of keys, the same for equal ones."""
        return np.zeros(length, np.int64) if self._own is None else derive(self._own, self._named(columns), length)[0]

    def _slots_of(self, asked: Asked, adds: bool) -> Small:
        """The slots of the keys that are asked for; -1 where there can be no answer, or none yet without ``adds``."""
        table = self.chains.slots
        codes, known = np.zeros(len(asked), np.int64), asked.eligible
        if self._bound is not None:
            codes, valid = derive(self._bound, asked.columns, len(asked))
            known = valid if known is None else known if valid is None else known & valid
        if known is None or known.all():
            return table.of(codes, self._keys(self._bound, asked.columns, len(asked)), adds)
        slots, rows = np.full(len(asked), -1, np.int32), np.flatnonzero(known)
        keys = [key.take(pa.array(rows)) for key in self._keys(self._bound, asked.columns, len(asked))]
        slots[rows] = table.of(codes[rows], keys, adds)
        return slots

    def _keys(self, key: Key | None, columns: Mapping[tuple[str, str], pa.Array], length: int) -> list[pa.Array]:
        """The values that are compared where codes are hashes."""
        if key is None or not _is_hashed(key):
            return []
        return [compiled(expression)(columns, length) for expression in key.expressions]

    def _before(self, asked: Asked, slots: Small) -> Integers:
        """The best rows before the times."""
        found = self._latest(asked, slots)
        return found if self._judged is None else self._valid(asked, found, self._judged)

    def _latest(self, asked: Asked, slots: Small) -> Integers:
        """The same, of a table the versions whether they are valid or not."""
        times = asked.times + self._offset
        since, until = times - self._within, times - self.asof.gap_us
        if self._judged is not None or not self._conditions:
            found, times = self.chains.last_until(slots, until), self.chains.rows.times
            return np.where(times[found] >= since, found, -1) if len(times) else found
        return self._met(asked, slots, since, until, latest=True)

    def _valid(self, asked: Asked, found: Integers, judged: tuple[Expression, ...]) -> Integers:
        """The versions that are valid and meet all conditions; -2 less those that do not."""
        rows = np.flatnonzero(found >= 0)
        if len(rows) and self._asks_for:
            pairs, keep = self._pairs(asked, rows, found[rows]), np.ones(len(rows), np.bool_)
            for condition in self._conditions:
                keep &= met(condition, pairs, len(rows))
            for own in judged:
                keep &= is_true(own, pairs, len(rows))
            found[rows[~keep]] = -2 - found[rows[~keep]]
        return found

    def _after(self, asked: Asked, slots: Small, since: Integers) -> Integers:
        """The best rows after the times."""
        until = asked.times + self._offset + self._within
        if not self._conditions:
            found = self.chains.first_since(slots, since)
            times = self.chains.rows.times
            return np.where(times[found] <= until, found, -1) if len(times) else found
        return self._met(asked, slots, since, until, latest=False)

    def _met(self, asked: Asked, slots: Small, since: Integers, until: Integers, latest: bool) -> Integers:
        """The latest or earliest row of each range that meets all conditions; of equal ones the last in the chain."""
        best = np.full(len(asked), -1, np.int64)
        for parents, found in self.chains.between(slots, since, until):
            for condition in self._conditions:
                keep = met(condition, self._pairs(asked, parents, found), len(parents))
                parents, found = parents[keep], found[keep]
            times = self.chains.rows.times[found]
            if not latest:
                order = np.lexsort((times, parents))
                parents, found, times = parents[order], found[order], times[order]
            firsts = np.flatnonzero(np.diff(parents, prepend=-1))
            places, rows = parents[firsts], found[firsts]
            other = best[places]
            better = other < 0 if latest else (other < 0) | (times[firsts] < self.chains.rows.times[other])
            best[places[better]] = rows[better]
        return best

    def _pairs(self, asked: Asked, parents: Integers, found: Integers) -> dict[tuple[str, str], pa.Array]:
        """The columns that conditions are about, of rows beside candidates."""
        some, columns = pa.array(parents), {}
        for column in self._asks_for:
            place = column.stream, column.name
            stored = column.stream == self.name
            columns[place] = self.chains.rows.take(column.name, found) if stored else asked.columns[place].take(some)
        return columns

    def _due(self, times: Integers, chosen: Integers) -> Integers:
        """A row before, at some distance, is the answer once the stream has come as far after the row that asks."""
        due = due_us(self.asof, times)
        if not len(self.chains.rows.times):
            return due
        return np.where(chosen >= 0, np.minimum(due, 2 * times - self.chains.rows.times[chosen]), due)


def _is_hashed(key: Key) -> bool:
    return len(key.expressions) > 1 or not is_exact(key.expressions[0].type)
