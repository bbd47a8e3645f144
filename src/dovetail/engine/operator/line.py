"""The line: the stages of one operator, in the order in which a block meets them.

    inputs     read, admit (late rows out, own conditions, order of time), wait at the gate
    store      a block becomes part of its stream's window
    probe      its tuples look for partners in the other windows, one stream after the other
    exit       results leave, or wait until nothing older can follow
    settle     what no tuple still to come can reach is given out and forgotten

The policies for memory and CPU time are always there; without a budget they do nothing. Nothing in the line knows who
drives it: an engine, block by block, or a group of queries, by urgency.
"""

from collections.abc import Callable, Mapping
from typing import Any

from dovetail.engine.admit.door import REASONS, Read
from dovetail.engine.admit.inputs import Batch, Inputs, Spans
from dovetail.engine.block.block import Block
from dovetail.engine.block.time_range import AFTER_ALL, NEVER
from dovetail.engine.buffer.section import Section
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.store import Store
from dovetail.engine.deliver.exit import Exit, exit_of
from dovetail.engine.operator.observed import Observed
from dovetail.engine.operator.stopwatch import Stopwatch
from dovetail.engine.policies.memory.account import held_bytes
from dovetail.engine.policies.memory_policy import memory_policy
from dovetail.engine.policies.shed.harvesting import probes_of
from dovetail.engine.policies.shed.policy import KeepAll, ShedPolicy
from dovetail.engine.policies.shed.shedding import shedding_of
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Rows, Stages
from dovetail.model.decision import Decision, Pace
from dovetail.model.query import JoinQuery
from dovetail.plan.physical import Plan

ExitOf = Callable[[JoinQuery, Store], Exit]


class Line:
    """The stages of one operator; ``busy_s`` is the time that joining each stream's blocks has taken, if measured."""

    def __init__(
        self, plan: Plan, stopwatch: Stopwatch | None, store: PartStore | None = None, exit_of: ExitOf = exit_of
    ) -> None:
        query = plan.query
        windows = {stream.name: Window(stream, plan.storage[stream.name]) for stream in query.streams}
        self.inputs = Inputs(query, windows)
        self.store = Store(plan, windows, self.inputs.doors)
        self.exit = exit_of(query, self.store)
        shedding = shedding_of(query, windows)
        self.shedding: ShedPolicy = shedding or KeepAll()
        self.memory = memory_policy(Stages(self.inputs, self.store, self.exit), query.budget, shedding, store)
        self.probes = probes_of(self.store, self.shedding)
        self.observed = Observed(windows, query.streams, every=stopwatch is not None and stopwatch.every)
        self.busy_s = dict.fromkeys(windows, 0.0)
        self.pace: Pace | None = None
        self.elsewhere = AFTER_ALL  # the earliest time that streams of other operators may still bring
        self.finds = query.found_on_arrival  # else rows come when they leave
        self._stopwatch = stopwatch
        self.restart_pace()

    def restart_pace(self) -> None:
        """Under a CPU budget nothing passes the gate before there is time for it; what has passed already has."""
        if self.shedding.paced:
            self.inputs.gate.pace()

    def read(self, blocks: Mapping[str, Batch]) -> dict[str, Read]:
        """The rows of a batch, as their streams promised them and memory allows; an error changes nothing."""
        read = self.inputs.read(blocks)
        self.memory.admit(blocks)
        return read

    def promise(self, name: str, time_us: int) -> None:
        """Nothing older than this will come from the stream."""
        self.inputs.promise(name, time_us)

    def tick(self, now_us: int) -> None:
        """It is now this time."""
        self.inputs.watermarks.tick(now_us)
        self.memory.tick(self.inputs.watermarks.clock.passed, self.inputs.arrived())

    def awaits(self, now_us: int) -> bool:
        """Whether the time matters: a stream is silent for too long, rows wait for CPU time, joins are owed."""
        waits = self.shedding.paced and self.inputs.gate.waiting > 0
        return waits or self.memory.awaits() or self.inputs.watermarks.awaits(now_us)

    def end(self) -> None:
        """Nothing will come any more from any stream; what waits for CPU time waits no longer."""
        self.pace, self.inputs.gate.until = None, AFTER_ALL
        self.inputs.watermarks.close()

    def admit(self, read: Mapping[str, Read], newest: Mapping[str, int] | None, spans: Spans | None) -> None:
        """Rows of a batch come in and wait at the gate; then the streams have come as far as their newest rows."""
        farthest, largest = self.inputs.look(read, newest, spans)
        for name, rows in read.items():
            columns, times, seen = self.inputs.admit(name, rows, farthest.get(name, AFTER_ALL))
            room = None if self.pace is None else self.pace.room[name] - len(self.inputs.gate.piles[name])
            self.inputs.wait(name, *self.shedding.let_in(name, columns, times, room))
            if seen is not None:
                largest[name] = max(seen, largest.get(name, seen))
        for name, time in largest.items():
            self.inputs.watermarks.saw(name, time)

    def opens(self, rows: int) -> bool:
        """Whether the gate lets some of the waiting rows pass, at most so many; never without a CPU budget."""
        return self.inputs.gate.open_for(rows, self.shedding.span_us, self.inputs.watermarks)

    def release(self) -> dict[str, Block]:
        """The blocks whose turn has come; those of row windows are stored ahead."""
        blocks = self.inputs.release()
        if not self.store.row_windows:
            return blocks
        ahead = {name: self.shedding.marked(name, blocks[name]) for name in blocks if name in self.store.row_windows}
        for name, block in ahead.items():
            self.exit.make_room(name, self.store.windows[name], len(block))
            self.store.store_ahead(name, block)
        # row windows first: whoever probes them then finds the few that are inside
        return ahead | {name: block for name, block in blocks.items() if name not in ahead}

    def join(self, name: str, block: Block) -> Rows:
        """Store a block, let it probe, and deliver what it finds."""
        stopwatch = self._stopwatch if self.observed.closely[name] else None
        if stopwatch:
            stopwatch.begin()
        first, last = self.stored(name, block)
        if stopwatch:
            self.observed.stored(name, stopwatch.split())
        for found in self.probes[name].results(first, last) if self.finds else ():
            yield from self.deliver(found)
        spent = stopwatch.end(name, block) if stopwatch else 0.0
        self.busy_s[name] += spent
        self.store.joined[name] += len(block)
        self.observed.joined(name, block, spent)

    def stored(self, name: str, block: Block) -> tuple[int, int]:
        """Store a block, or show it if it was stored ahead: the ids of its first tuple and the one after its last."""
        window, ahead = self.store.windows[name], self.store.windows[name].hidden
        if not ahead:
            self.exit.make_room(name, window, len(block))
        first, last = self.store.store(name, block)
        if ahead:
            self.memory.shown(name, first)
        return first, last

    def deliver(self, found: Partial) -> Rows:
        """Complete combinations: those that are results leave, or wait for their order."""
        results = self.exit.certain(found)
        for some, places in self.exit.routed(results) if len(results) else ():
            self.shedding.see(some, places)
            self.memory.see(some, places)
            yield from self.exit.give(some, places)

    def settles_first(self, blocks: Mapping[str, Block]) -> bool:
        """Whether something must leave before these blocks are joined.

        Unmatched rows must; held ones too, unless some of them would have to wait for these blocks.
        """
        if not self.exit.gives_later:
            return False
        if self.exit.gives_alone:
            return True
        first = min(block.times[0] for block in blocks.values())
        return any(self.exit.holds) and min(self.inputs.reach({}).values()) <= first

    def settle(self, pending: Mapping[str, int], joined: str | None = None, suspended: bool = False) -> Rows:
        """Give out and forget what no tuple still to come can reach; ``pending``: the next tuple of this batch.

        A lazy window is left as it is when a block of its own stream has just been ``joined``. If they are
        ``suspended``, pending tuples are stored and have yet to probe.
        """
        reach = self.memory.settling(self.inputs.reach(pending))
        limit, second = sorted(reach.values())[:2]
        if limit < AFTER_ALL:
            second = min(second, NEVER)  # what nothing pushes out of a row window stays until all streams have ended
        windows, storage = self.store.windows, self.store.plan.storage
        others = {name: second if reach[name] == limit else limit for name in windows}
        stored = {name: time for name, time in others.items() if len(windows[name])}
        later = self.exit.gives_later
        if later:
            if not self.memory.owes:
                yield from self.exit.become_certain(reach, pending if suspended else {})
            for name, time in stored.items():
                yield from self.exit.leave(name, time, limit, pending.get(name, AFTER_ALL) if suspended else AFTER_ALL)
            if limit == AFTER_ALL:
                yield from self.exit.leave_at_the_end(self.inputs.latest)
        for name, time in stored.items():
            if not (suspended and name in pending) and (name != joined or not storage[name].lazy):
                self._forget(name, min(time, self.elsewhere, self.exit.asked_for(name, limit)))
        if later:
            yield from self.exit.release(limit, others)

    def check_settled(self) -> None:
        """Forget what a state that was read back still has of expired tuples; nothing may come out of it.

        Under windows that were changed, or of a join by stream in an old state or one of another order, something may:
        it comes out with the next rows.
        """
        if self.inputs.watermarks.complete_from is not None or self.exit.is_behind(self.inputs.watermarks.all()):
            return
        for _ in self.settle({}):
            raise AssertionError("whoever wrote the state gave out all that was due")

    def _forget(self, name: str, others: int) -> None:
        if not self.store.has_expired(name, others):
            return
        stopwatch = self._stopwatch if self.observed.closely[name] else None
        if stopwatch:
            stopwatch.begin()
        anew = self.store.forget(name, others)
        if anew is not None:
            self.exit.renew(name, self.store, anew)
        self.exit.give_back(name, self.store.windows[name])
        if stopwatch:
            self.observed.expired(name, stopwatch.split())

    def observe(self) -> None:
        """Take a reading of what the counters have gathered."""
        self.observed.read(self.probes.values(), self.exit.counts["made"])

    def adopt_plan(self, plan: Plan) -> None:
        """Store and probe as another plan says."""
        self.store.adopt(plan)
        self.exit.adopt(plan)
        self.probes = probes_of(self.store, self.shedding)

    def adopt_rest(self, decision: Decision) -> None:
        """Where ordered output waits, what is left out, and how much of the memory there is to use."""
        self.memory.share(decision.load)
        gate = self.inputs.gate
        if decision.waits is not None:
            gate.sync = decision.waits == "sync"
        self.shedding.follow(decision.shed, gate)

    @property
    def frontier(self) -> int:
        """No stream will send anything older, and no result before it is still owed."""
        return min(self.memory.held_back(self.inputs.reach({})).values())

    def sections(self) -> list[Section]:
        """Everything that survives, in the order in which it is read back."""
        parts = (self.inputs, self.store, self.exit, self.shedding, self.memory)
        return [section for part in parts for section in part.sections()]

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far."""
        gate, hold, holds, windows = self.inputs.gate, self.exit.hold, self.exit.holds, self.store.windows
        account, diverted = self.memory.metrics(), self.inputs.diverted
        return {
            "streams": {name: self._stream_metrics(name) for name in windows},
            "results": hold.results,
            "late_results": self.exit.counts["late_results"] + hold.out_of_order,
            "held": sum(map(len, holds)),
            "held_bytes": sum(each.nbytes for each in holds),
            "waiting_bytes": sum(pile.nbytes for pile in gate.piles.values()),
            "order": gate.mode,
            "frontier": self.inputs.watermarks.frontier,
            "bytes": sum(window.resident for window in windows.values()) + held_bytes(self.inputs, holds),
            **({"diverted": diverted.metrics()} if diverted.wanted else {}),
            **({"memory": account} if account else {}),
            **({} if (since := self.inputs.watermarks.complete_from) is None else {"complete_from": since}),
        }

    def _stream_metrics(self, name: str) -> dict[str, Any]:
        counts, window = self.inputs.doors[name].counts, self.store.windows[name]
        return {
            **{reason: counts[reason] for reason in REASONS},
            "lateness_us": self.inputs.doors[name].needed_us,
            "watermark": self.inputs.watermarks[name],
            "stored": len(window),
            "bytes": window.nbytes,
            "waiting": len(self.inputs.gate.piles[name]),
        }
