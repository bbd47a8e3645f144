"""The policy "spill": what does not fit into memory is joined later from disk, and no result is lost or made twice.

    memory with memory     a block arrives and meets what is in memory; too much of it is flushed, as parts
    disk with memory       inputs pause (tick): each part meets what is in memory; the epoch is logged for it
    everything             the pause goes on, before anything is forgotten for good, at the end: all owed is made

As long as joins are owed, the streams count as having come only as far as all of them had when nothing was owed: so no
tuple expires, no unmatched row leaves and no ordered result is released before the joins it depends on have been made.
A pass over everything is made when half of what is stored could expire after it, when held output takes a quarter of
the budget, when inputs pause and output depends on it, when they still do after the parts met what is in memory, and
at the end of all input.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.section import Section
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.policies.memory.account import Account, take_them
from dovetail.engine.policies.memory.policy import Incoming, Reach, Unlimited, others
from dovetail.engine.policies.spill.choose import Choice, choice_of
from dovetail.engine.policies.spill.flush import Flush
from dovetail.engine.policies.spill.leaving import leave
from dovetail.engine.policies.spill.merge import merge_parts
from dovetail.engine.policies.spill.missed import Members, Owed
from dovetail.engine.policies.spill.part import EPOCH, Leaving, Part
from dovetail.engine.policies.spill.pauses import Pauses
from dovetail.engine.policies.spill.section import Spilled
from dovetail.engine.policies.spill.split import split_parts
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Rows, Stages
from dovetail.errors import BudgetError
from dovetail.model.budget import Budget

_HELD_SHARE = 0.25  # of the limit: held output beyond it is worth a disk pass
_WORTH_MERGING = 0.5  # of a full part: then it is never merged again before the next pass


class Spill(Unlimited):
    """Keeps an engine inside its memory by flushing parts, and joins them later."""

    def __init__(self, stages: Stages, budget: Budget, store: PartStore) -> None:
        assert budget.memory is not None
        self.stages, self.store = stages, store
        self._budget = budget
        self._account = Account(stages, budget.memory)
        self.choice = choice_of(stages.store.plan.query)
        self._flush = Flush(stages, self._account, self.choice, store)
        self.pauses = Pauses()
        self.parts = {}
        self.epoch, self.passed, self.next_part = 0, -1, 0
        self.floor = dict.fromkeys(stages.store.windows, BEFORE_ALL)
        self.counts = {"flushes": 0, "flushed_tuples": 0, "passes": 0, "probes": 0, "disk_results": 0}
        for window in stages.store.windows.values():
            window.keep_note(EPOCH, 0)

    @property
    def parts(self) -> dict[int, Part]:
        """What is on disk, by number."""
        return self._parts

    @parts.setter
    def parts(self, parts: dict[int, Part]) -> None:
        self._parts, self._leaving = parts, Leaving(parts.values())

    def flush_by(self, choice: Choice) -> None:
        """Choose otherwise what leaves memory."""
        self.choice = choice
        self._flush = Flush(self.stages, self._account, choice, self.store)

    def admit(self, incoming: Incoming) -> None:
        """What could not be flushed before must be now."""
        self._make_room()
        if self._is_over():
            raise BudgetError(
                f"{self._account.held():,} are held and cannot be flushed, and the budget is {self._budget}. Row "
                "windows, waiting input and held output stay in memory: give it more, or smaller windows."
                f"{take_them(self._account.diverted())}"
            )

    def shown(self, name: str, first: int) -> None:
        """Tuples stored ahead arrive now; those behind them later, but not earlier."""
        window = self.stages.store.windows[name]
        window.note(EPOCH)[first - window.base : window.end - window.base] = self.epoch

    def see(self, results: Partial, places: Ids | None = None) -> None:
        """Nothing is missing, so nothing is counted."""

    def work(self, pending: Mapping[str, int]) -> Rows:
        """Flush if there is too much; make what is owed if it is due."""
        with suppress(BudgetError):  # the batch is finished first, or its results were lost; then ``admit`` says so
            self._make_room()
        if not self.parts:
            return
        reach = self.stages.inputs.reach(pending)
        if self._due(reach):
            yield from self._pass(reach)
        elif self.pauses.now:
            yield from self._probe_memory()
            self.pauses.lasts = True
        self.pauses.now = False

    def _make_room(self) -> None:
        if not self._is_over():
            return
        parts = self._flush.make_room(self.epoch, self.next_part)
        if parts:
            self.parts |= {part.number: part for part in parts}
            self.next_part += len(parts)
            self.counts["flushes"] += 1
            self.counts["flushed_tuples"] += sum(part.rows for part in parts)
            self.begin_epoch(self.epoch + 1)
            self._merge(least=_WORTH_MERGING)

    def _merge(self, least: float) -> None:
        self._write_anew(merge_parts(self.store, self._flush, self.parts.values(), self.next_part, least))

    def _write_anew(self, parts: Sequence[Part]) -> None:
        self.parts = {part.number: part for part in parts}
        self.next_part = max(self.next_part, *(number + 1 for number in self.parts))

    def begin_epoch(self, epoch: int) -> None:
        """From now on tuples arrive in this epoch."""
        self.epoch = epoch
        for window in self.stages.store.windows.values():
            window.fill_note(EPOCH, epoch)

    def _due(self, reach: Reach) -> bool:
        pauses = self.pauses
        if min(reach.values()) >= AFTER_ALL or (pauses.now and (self.stages.exit.gives_later or pauses.lasts)):
            return True
        output, limit = self._account.held_output(), self._account.limit
        if min(reach.values()) > min(self.floor.values()) and (output > _HELD_SHARE * limit or self._is_over()):
            return True
        return self._mostly_expired(reach)

    def _is_over(self) -> bool:
        return self._account.held() > self._account.limit

    def _mostly_expired(self, reach: Reach) -> bool:
        """Whether half of the tuples could be forgotten after a pass."""
        gone = stored = 0
        for name, window in self.stages.store.windows.items():
            width, limit = self.stages.store.widths[name], min(reach.values())
            gone += self._leaving.before(name, self._needed_from(name, reach) - width)
            stored += self._leaving.rows(name)
            if name not in self.stages.store.row_windows:
                gone += window.id_from(min(limit, self.stages.exit.asked_for(name, limit)) - width) - window.tail
                stored += len(window)
        return 2 * gone > stored

    def _needed_from(self, name: str, reach: Reach) -> int:
        """After a pass, nothing older than this will look for a stream's tuples."""
        return min(others(reach, name), self.stages.exit.asked_for(name, min(reach.values())))

    def _is_gone(self, part: Part, reach: Reach) -> bool:
        return part.span.latest + self.stages.store.widths[part.stream] < self._needed_from(part.stream, reach)

    def _owed(self) -> Owed:
        return Owed(self.stages, self.store, tuple(self.parts.values()), self.passed)

    def _probe_memory(self) -> Rows:
        """Join each part with what is in memory; what arrives later is not covered by that."""
        owed = self._owed()
        for part in owed.parts:
            if part.span.probes[-1:] < (self.epoch,):
                for found in owed.with_memory(part):
                    yield from self._deliver(*found)
                self.parts[part.number] = part.probed(self.epoch)
        self.counts["probes"] += 1
        self.begin_epoch(self.epoch + 1)

    def _pass(self, reach: Reach) -> Rows:
        """Make all that is owed; then what no tuple to come can reach leaves, and is forgotten."""
        self._write_anew(split_parts(self.store, self._flush, self.parts.values(), self.next_part))
        for found in self._owed().everything():
            yield from self._deliver(*found)
        self.counts["passes"] += 1
        self.pauses.settled = self.pauses.now
        self.passed = self.epoch
        self.begin_epoch(self.epoch + 1)
        self.floor = dict(reach)
        self.parts = {number: part.settled() for number, part in self.parts.items()}
        yield from leave(self.stages, self._owed(), reach)
        for part in list(self.parts.values()):
            if self._is_gone(part, reach):
                del self.parts[part.number]
                self.store.delete(part.number)
        if self.parts:
            self._merge(least=0.0)

    def _deliver(self, members: Members, found: Partial) -> Rows:
        exit = self.stages.exit.over(self.stages.store, members)
        self.counts["disk_results"] += len(found)
        yield from exit.give_rows(exit.certain(found))

    def held_back(self, reach: Reach) -> Reach:
        """The reach, or where parts are owed joins, the frontier as it was when none were.

        One time for all streams: what arrives from a stream that is behind is then not forgotten at once, as it would
        be for the others' progress, but waits to be joined with the parts.
        """
        if not self.parts:
            return reach
        frontier = min(*self.floor.values(), *reach.values())
        return dict.fromkeys(reach, frontier)

    @property
    def owes(self) -> bool:
        """Whether some tuples are on disk."""
        return bool(self.parts)

    def settling(self, reach: Reach) -> Reach:
        """How far streams count as having come; what is flushed while nothing is owed has been settled up to there."""
        if not self.parts:
            self.floor = dict(reach)
        return self.held_back(reach)

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> None:
        """Note whether inputs pause."""
        self.pauses.tick(now_us, arrived)

    def awaits(self) -> bool:
        """Whether joins are owed that a pause of the inputs leaves time for."""
        return bool(self.parts) and not self.pauses.settled

    def close(self) -> None:
        """Remove the files."""
        self.store.close()

    def sections(self) -> Sequence[Section]:
        """Parts, and what is known of them."""
        return [Spilled(self)]

    def share(self, load: float) -> None:
        """More or less of the budget, by the load."""
        self._account.share(load)

    def metrics(self) -> dict[str, Any]:
        """What is held and what was spilled."""
        parts = self.parts.values()
        return {
            "policy": "spill",
            "limit": self._account.limit,
            "held": self._account.held(),
            "spilled": sum(part.rows for part in parts),
            "spilled_bytes": sum(part.bytes for part in parts),
            "parts": len(parts),
            **self.counts,
        }
