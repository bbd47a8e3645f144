"""The engine: blocks of columns in, results out; no Spark, no clock, no threads.

    push      door -> gate -> window -> probe -> exit -> hold, for each piece of the batch in order of time
    advance   a promise about one stream's future
    tick      processing time, for streams that fall silent
    close     the end of all input
    changes   new slices, gone slices, header: the only form of state (``apply`` and ``restore`` take it back)

The gate makes input wait until its turn has come (Sync-Filter, row windows); the hold makes output
wait until nothing older can follow (Filter-Order). After every piece, what no tuple still to come
can reach is settled: unmatched rows come out, windows forget, held rows are released.

Invariant: a result is made by its member that was stored last, so exactly once, however the input
is cut or interleaved. Example, windows of 10 s, k equal:

    push A k=1 at 3      stored; B is empty                    nothing
    push B k=1 at 9      stored; A's tuple at 3 >= 9 - 10      (A 3, B 9), result time 9
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
import pyarrow as pa

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.door import Columns, Door, Read, Times, chosen
from dovetail.engine.admit.gate import Gate
from dovetail.engine.admit.horizon import Horizon, Span, spans_of
from dovetail.engine.admit.watermarks import Watermarks
from dovetail.engine.block.block import Block, interleave
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL, NEVER
from dovetail.engine.buffer.slices import SliceLog
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.probe import Probe
from dovetail.engine.combine.row_windows import RowCheck, RowWindowed
from dovetail.engine.deliver.hold import Hold
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.sliding.stage import Sliding
from dovetail.engine.deliver.unmatched import Semi, Unmatched, preserved_streams
from dovetail.engine.deliver.way_out import WayOut
from dovetail.engine.operator.observed import Observed
from dovetail.engine.operator.persistent import Persistent
from dovetail.engine.operator.stopwatch import Stopwatch as Stopwatch
from dovetail.engine.policies.memory.insides import Insides
from dovetail.engine.policies.memory_policy import keeper_of
from dovetail.engine.policies.shed.harvesting import HarvestingProbe
from dovetail.engine.policies.shed.pacer import Pacer
from dovetail.engine.policies.shed.shedding import Shedding, shedding_of
from dovetail.engine.policies.spill.store import PartStore
from dovetail.model.decision import Decision
from dovetail.model.window import RowWindow, TimeWindow
from dovetail.plan.choose_plan import decision_of, plan_of
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import row_group

_UNBOUNDED = 1 << 60
_KEPT = 1 << 17
_BLOCK_OF_LITTLE_MEMORY = 1 << 12
# A probe walks past tuples of its own block that are still to come or were pushed out in it, so blocks are small; with
# a thousand tuples the cost of a block itself hardly shows.
_BLOCK_BESIDE_ROW_WINDOWS = 1 << 10

Rows = Iterator[pa.RecordBatch]


class Engine(Persistent):
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
    ) -> None:
        self.plan = plan
        self.store = store
        self._block_rows = block_rows
        query = plan.query
        streams = {stream.name: stream for stream in query.streams}
        self._stopwatch = stopwatch
        self.busy_s = dict.fromkeys(streams, 0.0)
        self.joined = dict.fromkeys(streams, 0)
        self._widths = {
            name: s.window.length_us if isinstance(s.window, TimeWindow) else _UNBOUNDED for name, s in streams.items()
        }
        self._windows = {name: Window(stream, plan.storage[name]) for name, stream in streams.items()}
        self.diverted = Diverted(query)
        self._doors = {name: Door(query, s, self._windows[name], self.diverted) for name, s in streams.items()}
        self.shedding = shedding_of(query, self._windows)
        self.pacer: Pacer | None = None
        self._watermarks = Watermarks(query.streams)
        self.horizon = Horizon(query.streams)
        self._rows = {
            name: RowWindowed(self._windows[name], stream.window, row_group(query, name))
            for name, stream in streams.items()
            if isinstance(stream.window, RowWindow)
        }
        self._probes = self._probes_of(plan)
        self._row_check = RowCheck(self._windows, self._rows)
        self._gate = Gate(query, self._doors)
        if self.shedding is not None:
            self.shedding.waiting = self._gate.pace()
        self._exit = Projection(plan, self._windows)
        names = query.joined.names
        self._hold = Sliding(query, self._gather) if query.aggregation else Hold(query, self._gather, names)
        self._unmatched: dict[str, Unmatched] = preserved_streams(query, self._windows, self._widths, self._rows)
        self._semi = Semi(query.names[0], self._windows[query.names[0]]) if query.how == "semi" else None
        # whether anything comes out later than it is found: held for its order, or as an unmatched row
        self._gives_later = query.order != "none" or query.how != "inner" or query.aggregation is not None
        self._latest = BEFORE_ALL
        self.observed = Observed(self._windows, query.streams, every=stopwatch is not None and stopwatch.every)
        self.decision = decision_of(plan)
        self._decided: Decision | None = None
        self.between_blocks: Callable[[], None] | None = None
        self._counts: Counter[str] = Counter()
        for name, window in self._windows.items():
            window.needed = partial(self._needed, name)
        logs = [SliceLog(name, window, self._doors[name].stored) for name, window in self._windows.items()]
        marks = [mark for kept in (*self._unmatched.values(), self._semi) if kept for mark in kept.sections()]
        self._sections = [*logs, *self._gate.piles.values(), *marks, *self._hold.sections(), self.diverted]
        self._memory = keeper_of(self._insides(), query.budget, store)
        if self._memory is not None:
            self._sections += self._memory.sections()
            self._block_rows = block_rows or _BLOCK_OF_LITTLE_MEMORY

    def _insides(self) -> Insides:
        return Insides(
            lambda: self.plan, self._windows, self._doors, self._widths, self._rows, self._gate, self._hold,
            self.diverted, self._unmatched, self._semi, lambda: self._latest, self.joined, self._deliver, self.shedding,
        )  # fmt: skip

    def _probes_of(self, plan: Plan) -> dict[str, Probe]:
        windows, widths = self._windows, self._widths
        if self.shedding is None:
            return {name: Probe(name, plan.probes[name], windows, widths, self._rows) for name in windows}
        shedding = self.shedding
        return {name: HarvestingProbe(name, plan.probes[name], windows, widths, shedding) for name in windows}

    def push(
        self,
        blocks: Mapping[str, pa.Table | pa.RecordBatch],
        newest: Mapping[str, int] | None = None,
        spans: Mapping[str, Sequence[Span]] | None = None,
    ) -> Rows:
        """One batch of one or several streams.

        ``newest`` and ``spans`` give the streams' largest times, and all of their times, if known from elsewhere.

        The results must be read to the end: storing and expiry go along with them. Rows that do not fit their
        stream are found before anything has changed.
        """
        read = {name: self._doors[name].read(rows) for name, rows in blocks.items()}
        if self._memory is not None:
            self._memory.admit(blocks)
        return self._push(read, newest, spans)

    def _push(
        self, blocks: Mapping[str, Read], newest: Mapping[str, int] | None, spans: Mapping[str, Sequence[Span]] | None
    ) -> Rows:
        largest, farthest = dict(newest or {}), dict[str, int]()
        if self.horizon.gap_us is not None:
            farthest, largest = self.horizon.look(self._spans(blocks) if spans is None else spans)
        self._latest = max([self._latest, *largest.values()])
        for name, rows in blocks.items():
            door = self._doors[name]
            if door.rows_of(rows):
                self._watermarks.heard(name)
            limit = farthest.get(name, AFTER_ALL)
            columns, times, seen = door.admit(rows, self._watermarks[name], self._watermarks.largest(name), limit)
            self._latest = max(self._latest, door.latest)
            if self.shedding is not None:
                columns, times = self._let_in(name, columns, times, self.shedding)
            if len(times):
                self._gate.add(name, columns, times)
            if seen is not None:
                largest[name] = max(seen, largest.get(name, seen))
        for name, time in largest.items():
            self._watermarks.saw(name, time)
        yield from self._proceed()

    def _spans(self, blocks: Mapping[str, Read]) -> dict[str, list[Span]]:
        assert self.horizon.gap_us is not None
        return {name: spans_of(clock.times, self.horizon.gap_us) for name, (_, clock) in blocks.items()}

    def _let_in(self, name: str, columns: Columns, times: Times, shedding: Shedding) -> tuple[Columns, Times]:
        """Under a CPU budget, the rows that are not dropped at the door; in a row window every row counts."""
        room = None if self.pacer is None else self.pacer.room(name) - len(self._gate.piles[name])
        keep = shedding.at_the_door(name, times, room, name in self._rows)
        return (columns, times) if keep is None else (chosen(columns, keep), times[keep])

    def fill(self, name: str, rows: pa.RecordBatch) -> None:
        """Store rows of a stream without joining them: they have met what came before elsewhere."""
        self._windows[name].append(self._doors[name].stored(rows))

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        self._watermarks.promise(name, time_us)
        self.horizon.promised(time_us)
        yield from self._proceed()

    def tick(self, now_us: int) -> Rows:
        """It is now this time, by the clock of whoever runs the engine."""
        self._watermarks.tick(now_us)
        if self._memory is not None:
            self._memory.tick(self._watermarks.clock.passed, self.arrived())
        yield from self._proceed()

    def awaits(self, now_us: int | None) -> bool:
        """Whether it would matter to be told the time: a stream is silent for too long, or rows wait for CPU time."""
        if now_us is None:
            return False
        return self._watermarks.awaits(now_us) or (self.shedding is not None and self.waiting > 0)

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""
        self.pacer, self._gate.until = None, AFTER_ALL
        self._watermarks.close()
        yield from self._proceed()
        if self._memory is not None:
            self._memory.close()

    def decide(self, order: Literal["sync", "hold"]) -> None:
        """Wait at the door or at the exit, from the next call on; what waits at the door then goes on by itself."""
        self._gate.sync = order == "sync"

    @property
    def waiting(self) -> int:
        """How many rows wait at the gate."""
        return sum(map(len, self._gate.piles.values()))

    @property
    def frontier(self) -> int:
        """No stream will send anything older, and no result before it is still owed."""
        if self._memory is not None:
            return min(self._memory.held_back({name: self._watermarks[name] for name in self._windows}).values())
        return self._watermarks.frontier

    @property
    def latest(self) -> int:
        """The largest event time that came in."""
        return self._latest

    def _proceed(self) -> Rows:
        """Join what may be joined now, then settle what is certain; under a budget, piece by piece while it lasts."""
        if self.shedding is not None:
            span_us = self.shedding.span_us
            while self._gate.open_for(self.pacer.rows() if self.pacer else _UNBOUNDED, span_us, self._watermarks):
                yield from self._pass_on()
        yield from self._pass_on()

    def _pass_on(self) -> Rows:
        blocks = self._gate.release(self._watermarks)
        if blocks:
            if self.shedding is not None:
                blocks |= {name: self.shedding.marked(name, blocks[name]) for name in self._rows.keys() & blocks.keys()}
            ahead = {name: block for name, block in blocks.items() if name in self._rows}
            for name, block in ahead.items():
                self._store_ahead(name, block)
            blocks = ahead | blocks  # row windows first: whoever probes them then finds the few that are inside
            if self.plan.query.how != "inner" or (
                self._hold and min(self._reach({}).values()) <= min(block.times[0] for block in blocks.values())
            ):  # unmatched rows leave before these are joined, held ones too unless some would have to wait for them
                yield from self._settle({name: int(block.times[0]) for name, block in blocks.items()})
            for name, block, pending in interleave(blocks, self._rows_at_a_time):
                yield from self._join(name, block)
                if self._memory is not None:
                    yield from self._memory.work(self._reach(pending))
                if pending:
                    yield from self._settle(pending, name)
                if self.observed.due:
                    self._observe()
                self._take_up(blocks)
        if self._memory is not None:
            yield from self._memory.work(self._reach({}))
        yield from self._settle({}, next(iter(blocks)) if len(blocks) == 1 else None)
        self._take_up({})

    @property
    def _rows_at_a_time(self) -> int | None:
        return self._block_rows or (_BLOCK_BESIDE_ROW_WINDOWS if self._rows else None)

    def _observe(self) -> None:
        self.observed.read(self._probes.values())
        if self.between_blocks:
            self.between_blocks()

    def replan(self, decision: Decision) -> None:
        """Go on with other structures and probe orders: from the next block on, or from the next call on."""
        self._decided = decision

    def _take_up(self, ahead: Mapping[str, Block]) -> None:
        """Follow a decision, unless blocks that are still ahead lack numbers that its probes read."""
        if self._decided is None:
            return
        plan = plan_of(self.plan.query, self._decided)
        needed = ((block, attribute) for name, block in ahead.items() for attribute in plan.storage[name].attributes)
        if all(attribute in block.attributes for block, attribute in needed):
            self._adopt(plan)
            self.decision, self._decided = self._decided, None

    def _adopt(self, plan: Plan) -> None:
        self.plan = plan
        for name, window in self._windows.items():
            window.restructure(plan.storage[name], self._doors[name].stored)
        self._probes = self._probes_of(plan)
        self._exit = Projection(plan, self._windows)

    def _join(self, name: str, block: Block) -> Rows:
        stopwatch = self._stopwatch if self.observed.closely[name] else None
        if stopwatch:
            stopwatch.begin()
        first, last = self._store(name, block)
        if stopwatch:
            self.observed.stored(name, stopwatch.split())
        for found in self._probes[name].results(first, last):
            yield from self._deliver(found)
        spent = stopwatch.end(name, block) if stopwatch else 0.0
        self.busy_s[name] += spent
        self.joined[name] += len(block)
        self.observed.joined(name, block, spent)

    def _store_ahead(self, name: str, block: Block) -> None:
        """Tuples of a row window are stored before their turn, so that it is known whom they push out."""
        self._windows[name].append_ahead(block)

    def _store(self, name: str, block: Block) -> tuple[int, int]:
        window = self._windows[name]
        if not window.hidden:
            return window.append(block)
        first, last = window.show(len(block))
        if self._memory is not None:
            self._memory.shown(name, first)
        return first, last

    def _deliver(self, found: Partial, out: WayOut | None = None) -> Rows:
        """Complete combinations: those that are results leave, or wait for their order."""
        own, out = out is None, out or WayOut(self._exit, self._row_check, self._unmatched, self._semi)
        results = self._certain(out.row_check.inside(out.exit.verified(found)), out)
        if not len(results):
            return
        if self.shedding is not None:
            self.shedding.see(results)
        if self._memory is not None:
            self._memory.see(results)
        self.observed.results += len(results)
        for kept in out.unmatched.values():
            kept.see(results)
        if out.semi:
            out.semi.see(results)
        elif self.plan.query.how != "anti":
            yield from self._hold.take(results) if own else self._hold.give_all(out.exit.rows(results))

    def _gather(self, results: Partial) -> Rows:
        """Results as rows."""
        yield from self._exit.rows(results)

    def _needed(self, name: str) -> int:
        """From which id on a window keeps its tuples: held results may name some expired ones."""
        window = self._windows[name]
        oldest = self._hold.oldest(name, window.tail)
        if window.tail - oldest <= max(len(window), _KEPT):
            return min(oldest, window.tail)
        self._hold.write()
        return window.tail

    def _certain(self, results: Partial, out: WayOut) -> Partial:
        """Without what a kept late row may no longer change: released times, rows given out as unmatched."""
        if self.plan.query.late != "keep":
            return results
        kept = self._hold.in_order(results)
        for unmatched in out.unmatched.values():
            kept = unmatched.still_open(kept)
        self._counts["late_results"] += len(results) - len(kept)
        return kept

    def _settle(self, pending: Mapping[str, int], joined: str | None = None) -> Rows:
        """Give out and forget what no tuple still to come can reach; ``pending``: the next tuple of this batch.

        A lazy window is left as it is when a block of its own stream has just been ``joined``.
        """
        reach = self._reach(pending)
        if self._memory is not None:
            reach = self._memory.settling(reach)
        limit, second = sorted(reach.values())[:2]
        if limit < AFTER_ALL:
            second = min(second, NEVER)  # what nothing pushes out of a row window stays until all streams have ended
        others = {
            name: second if reach[name] == limit else limit for name, window in self._windows.items() if len(window)
        }
        if self._gives_later:
            for name in others:
                yield from self._leave(name, others[name], limit)
            if limit == AFTER_ALL:
                yield from self._leave_at_the_end()
        for name in others:
            if name != joined or not self.plan.storage[name].lazy:
                self._forget(name, others[name])
        if self._gives_later:
            yield from self._hold.release(limit)

    def _reach(self, pending: Mapping[str, int]) -> Mapping[str, int]:
        """The earliest time that each stream may still bring."""
        marks, gate = self._watermarks, self._gate
        return {name: min(marks[name], pending.get(name, AFTER_ALL), gate.earliest(name)) for name in self._windows}

    def _leave(self, name: str, others: int, limit: int) -> Rows:
        """Rows of a stream that come out on their own, before they are forgotten."""
        if name in self._unmatched:
            ids, times = self._unmatched[name].leaving(others)
            for rows in self._exit.alone(name, ids, times):
                yield from self._hold.give_alone(rows)
        elif self._semi and name == self.plan.query.names[0]:
            ids, times = self._semi.due(limit, self._windows[name].id_from(others - self._widths[name]))
            for rows in self._exit.alone(name, ids, times):
                self._hold.keep(rows)

    def _leave_at_the_end(self) -> Rows:
        """Unmatched rows that nothing has pushed out of a row window, not older than anything that came in or out."""
        end = max(self._latest, self._hold.latest_alone)
        for name, unmatched in self._unmatched.items():
            ids = unmatched.staying()
            for rows in self._exit.alone(name, ids, np.full(len(ids), end)):
                yield from self._hold.give(rows)

    def _forget(self, name: str, others: int) -> None:
        window, before = self._windows[name], others - self._widths[name]
        if name not in self._rows and window.oldest >= before:
            return
        stopwatch = self._stopwatch if self.observed.closely[name] else None
        if stopwatch:
            stopwatch.begin()
        if name in self._rows:
            self._rows[name].forget(others)
        else:
            window.expire(before)
        if stopwatch:
            self.observed.expired(name, stopwatch.split())
