"""The cells of a grid as one operator: an operator per cell, each joining what its cell has, in threads of one pool.

    push    conform, deal rows out by cell  ->  each cell's operator, told how far every stream has come
                                            ->  their results, in one order of time if the query asks for one

There are as many cells as the grid has, or one, for pushes that are too small to be shared; from one to the other the
state is dealt out again. If a cell fails the call fails, after all others have ended.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.engine.admit.conform import Clock, conform, read_clock
from dovetail.engine.admit.door import Lateness
from dovetail.engine.admit.horizon import smallest_ahead, spans_of
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.section import Changes, SliceKey, Slices
from dovetail.engine.operator.contract import Operator, SideOutput, Steerable
from dovetail.engine.operator.readings import Readings
from dovetail.engine.operator.state import FORMAT
from dovetail.engine.policies.stages import Rows
from dovetail.model.decision import Decision
from dovetail.model.stamp import check_stamp, stamp
from dovetail.plan.partition_grid import Grid
from dovetail.plan.physical import Plan
from dovetail.plan.split_keys import key_splits, splits_keys
from dovetail.runtime.deal import Integers, Route, deal
from dovetail.runtime.deal import Rows as DealtRows
from dovetail.runtime.hot_keys import SAMPLE_ROWS, HotKeys, Sample
from dovetail.runtime.threads.metrics import lateness_of, metrics_together
from dovetail.runtime.threads.pays import Pays
from dovetail.runtime.threads.redeal import can_be_dealt, deal_out, gather
from dovetail.runtime.threads.redeal_headers import speaking
from dovetail.runtime.threads.side_output import CellsDiverted
from dovetail.runtime.threads.together import together

Call = Callable[[Operator], Rows]


class Cells:
    """Operators that are made by ``new`` if they are as many as the ``grid`` has cells, by ``alone`` if it is one."""

    def __init__(self, plan: Plan, grid: Grid, new: Callable[[], Steerable], alone: Callable[[], Steerable]) -> None:
        self._plan, self._grid, self._new, self._alone = plan, grid, new, alone
        self.cells = [alone()]
        self._pays = Pays()
        self._positions, self._extra = dict.fromkeys(plan.query.names, 0), dict.fromkeys(plan.query.names, 0)
        self._speaking = {name: speaking(grid, name) for name in plan.query.names}
        self._splits = key_splits(plan.query, grid) if splits_keys(plan.query, grid) else ()
        self._hot = HotKeys()
        self._written: set[SliceKey] = set()  # what ``changes`` has told, while it must be taken back when cells change
        self._moved = False
        self._given: Sequence[Changes] = []  # what cells were given when they began, if somebody must be told

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch of one or several streams; rows that do not fit are found before anything has changed."""
        if self._pays.changes_with(sum(rows.num_rows for rows in blocks.values()), len(self.cells) > 1):
            self._suit()
        if len(self.cells) == 1:
            return self.cells[0].push(blocks, newest, spans)
        return self._dealt(blocks, newest, spans)

    def _dealt(self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None, spans: Spans | None) -> Rows:
        arrivals = {name: self._read(name, rows) for name, rows in blocks.items()}
        times = {name: clock for name, (_, clock) in arrivals.items()}
        told = {name: clock.largest if len(clock.times) else BEFORE_ALL for name, clock in times.items()}
        gap_us = smallest_ahead(self._plan.query.streams)
        if gap_us is not None and spans is None:
            spans = {name: spans_of(clock.times, gap_us) for name, clock in times.items()}
        shares = [dict[str, Callable[[], Batch]]() for _ in self.cells]
        routes = self._routes(arrivals)
        for name, (rows, clock) in arrivals.items():
            dealt = self._dealt_rows(name, rows)
            if routes:
                dealt = replace(dealt, times=self._times(name, rows, clock))
            for share, own in zip(shares, self._parts(dealt, routes), strict=True):
                if len(own):
                    share[name] = partial(rows.take, own)
        told |= newest or {}
        pushes = [partial(_push, cell, share, told, spans) for cell, share in zip(self.cells, shares, strict=True)]
        return together(pushes, self._ordered)

    def _read(self, name: str, rows: Batch) -> tuple[pa.RecordBatch, Clock]:
        stream = self._plan.query.stream(name)
        columns = conform(stream, rows, self._plan.columns[name])
        whole = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        return whole, read_clock(stream, columns[stream.time])

    def _dealt_rows(self, name: str, rows: pa.RecordBatch) -> DealtRows:
        columns = {(name, field): column for field, column in zip(rows.schema.names, rows.columns, strict=True)}
        return DealtRows(name, columns, rows.num_rows, self._positions[name])

    def _times(self, name: str, rows: pa.RecordBatch, clock: Clock) -> Integers:
        """Of all rows; those without one are before all others."""
        column = rows.column(self._plan.query.stream(name).time)
        if not column.null_count:
            return clock.times
        times = np.full(rows.num_rows, BEFORE_ALL)
        times[column.is_valid().to_numpy(zero_copy_only=False)] = clock.times
        return times

    def _routes(self, arrivals: Mapping[str, tuple[pa.RecordBatch, Clock]]) -> tuple[Route, ...]:
        """How rows of hot keys go, judged by the push that is about to be dealt out."""
        if not self._splits:
            return ()
        samples = {}
        for name, (rows, _) in arrivals.items():
            some = rows.take(np.arange(0, rows.num_rows, -(-rows.num_rows // SAMPLE_ROWS) or 1))
            samples[name] = Sample.of(self._grid, self._dealt_rows(name, some), rows.num_rows)
        hot = self._hot.next(self._plan.query, self._grid, samples, self.frontier)
        times = {name: clock.largest for name, (_, clock) in arrivals.items() if len(clock.times)}
        self._hot = hot.seen(self._plan.query, times)
        return hot.routes(self._splits)

    def _parts(self, rows: DealtRows, routes: Sequence[Route]) -> list[pa.Array]:
        """The numbers of each cell's rows."""
        order, ends = deal(self._grid, rows, routes)
        name = rows.stream
        self._positions[name] += rows.length
        self._extra[name] += sum(int(ends[cell + 1] - ends[cell]) for cell in self._speaking[name]) - rows.length
        dealt = pa.array(order)
        return [dealt.slice(start, stop - start) for start, stop in pairwise(ends.tolist())]

    @property
    def _ordered(self) -> bool:
        return self._plan.query.order != "none" or self._plan.query.aggregation is not None

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        return self._all(lambda cell: cell.advance(name, time_us))

    def tick(self, now_us: int) -> Rows:
        """It is now this time."""
        return self._all(lambda cell: cell.tick(now_us))

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""
        return self._all(lambda cell: cell.close())

    def _all(self, call: Call) -> Rows:
        if len(self.cells) == 1:
            return call(self.cells[0])
        return together([partial(call, cell) for cell in self.cells], self._ordered)

    def _suit(self) -> None:
        """As many cells as suit the pushes that come."""
        if len(self.cells) == 1:
            if self._pays.several(self._stored()):
                self._deal_again()
        elif self._pays.one(self._stored()):
            self._take_over([self._gathered()])

    def _stored(self) -> int:
        streams = [stream for cell in self.cells for stream in cell.metrics()["streams"].values()]
        return sum(stream["stored"] + stream["waiting"] for stream in streams)

    def _deal_again(self) -> None:
        whole = self.cells[0].state()
        if can_be_dealt(whole):
            self._take_over(deal_out(self._plan.query, self._grid, whole))
            if self._splits:
                self._hot = HotKeys(json.loads(whole.header)["sections"]["inputs"]["latest"])

    def _take_over(self, states: Sequence[Changes]) -> None:
        self.cells = [self._new() for _ in states] if len(states) > 1 else [self._alone()]
        for cell, state in zip(self.cells, states, strict=True):
            cell.apply(state)
        self._extra = dict.fromkeys(self._extra, 0)
        self._moved, self._given = True, states if self._written else []

    def _gathered(self) -> Changes:
        return gather(self._plan.query, self._grid, [cell.state() for cell in self.cells], self._extra)

    def state(self) -> Changes:
        """All of the state, as one operator would have it."""
        return self.cells[0].state() if len(self.cells) == 1 else self._gathered()

    def changes(self) -> Changes:
        """What to write to a state store since the last call; other cells than at the last call are written anew."""
        found = [cell.changes() for cell in self.cells]
        new: Slices = {}
        gone: set[SliceKey] = set()
        for at, part in enumerate(found):
            told = self._given[at].new if self._given else {}
            own = self._own(at)
            new |= {(own + section, n): rows for (section, n), rows in (told | part.new).items()}
            gone |= {(own + section, n) for section, n in part.gone}
        new = {key: rows for key, rows in new.items() if key not in gone}
        deleted = list(self._written - new.keys() if self._moved else gone)
        self._written = (self._written - set(deleted)) | new.keys()
        self._moved, self._given = False, []
        if len(found) == 1:
            return Changes(new, deleted, found[0].header)
        header = {"cells": [json.loads(part.header) for part in found], "hot": self._hot.to_json()}
        return Changes(new, deleted, json.dumps(stamp(FORMAT) | header).encode())

    def _own(self, cell: int) -> str:
        return f"{cell}:" if len(self.cells) > 1 else ""

    def apply(self, changes: Changes) -> None:
        """Take over a state: of one operator, or of the cells as ``changes`` told it."""
        header = json.loads(changes.header)
        check_stamp("this state", header, FORMAT)
        headers, self._hot = header.get("cells"), HotKeys.from_json(header.get("hot"))
        self._written = set(changes.new)
        if headers is None:
            self.cells[0].apply(changes)
            return
        self.cells = [self._new() for _ in headers]
        for at, cell in enumerate(self.cells):
            own = self._own(at)
            new = {(s.removeprefix(own), n): rows for (s, n), rows in changes.new.items() if s.startswith(own)}
            cell.apply(Changes(new, [], json.dumps(headers[at]).encode()))

    def adopt(self, decision: Decision) -> None:
        """Go on as decided by someone else than the controllers, in every cell that there is."""
        for cell in self.cells:
            cell.adopt(decision)

    @property
    def frontier(self) -> int:
        """No stream will send anything older, and no result before it is still owed."""
        return min(cell.frontier for cell in self.cells)

    def statistics(self) -> tuple[Readings, ...]:
        """Of its one operator, the first cell before the others."""
        found = [readings for cell in self.cells for readings in cell.statistics()]
        return (replace(found[0], others=tuple(found[1:])),) if found else ()

    @property
    def diverted(self) -> SideOutput:
        """The rows that did not come in and that nobody has taken yet."""
        return self.cells[0].diverted if len(self.cells) == 1 else CellsDiverted(self.cells)

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped."""
        if len(self.cells) == 1:
            return self.cells[0].lateness()
        late = {name for cell in self.cells for name in cell.lateness()}
        return lateness_of(self.metrics()["streams"], late) if late else {}

    def awaits(self, now_us: int) -> bool:
        """Whether it would matter to be told the time."""
        return any(cell.awaits(now_us) for cell in self.cells)

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes of all cells together."""
        if len(self.cells) == 1:
            return self.cells[0].metrics()
        together = metrics_together(self._grid, [cell.metrics() for cell in self.cells], self._extra)
        return together | {"hot_keys": sum(key.end_us is None for key in self._hot.keys)}


def _push(
    cell: Operator, share: Mapping[str, Callable[[], Batch]], newest: Mapping[str, int], spans: Spans | None
) -> Rows:
    """A cell's own rows, gathered by the thread that joins them."""
    return cell.push({name: rows() for name, rows in share.items()}, newest, spans)
