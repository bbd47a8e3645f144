"""The state of a query, gathered from its cells into that of one operator, and dealt out again to other cells.

    gather    rows of all cells in order of time, a copied row once; counters added up
    deal_out  every stored and waiting row to its cells, results that are aggregated to those of their groups;
              counters and other results that wait to the first

So a snapshot is the same whatever the number of threads, and the number may change while a query runs.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.conform import times_us
from dovetail.engine.block.arrow_values import values_of
from dovetail.engine.block.time_order import places_in_order
from dovetail.engine.block.time_range import NEVER
from dovetail.engine.buffer.section import Changes, Slices
from dovetail.engine.operator.state import FORMAT, read_header
from dovetail.model.aggregate import GROUP, UNTIL
from dovetail.model.query import JoinQuery
from dovetail.model.stamp import stamp
from dovetail.plan.keep_groups import keys_of_groups
from dovetail.plan.partition_grid import Grid, KeyAxis
from dovetail.plan.split_keys import key_splits
from dovetail.runtime.deal import Rows, deal, one_copy_each
from dovetail.runtime.threads.redeal_headers import header_of_cell, headers_together

Ids = npt.NDArray[np.int64]

_FILLS = {"given": 0, "alone": 0, "seen": 0, "best": NEVER}  # notes about stored tuples, and what stands for none

_PILES = ("waiting", "dedup", "asof")  # rows of a stream by time: that wait, may be repeated, may be an answer
_KNOWN = (
    *("inputs", "watermarks", "horizon", "waiting", "dedup", "diverted", "window", "held", "delivered", "decision"),
    *("control", "group", "asof", "open", "live", "certain"),
)


@dataclass(frozen=True)
class State:
    """The slices of one operator by section and number, and the headers of its sections."""

    slices: Slices
    headers: dict[str, Any]

    @classmethod
    def of(cls, changes: Changes) -> "State":
        """All of an operator's state."""
        return cls(changes.new, read_header(changes.header)["sections"])

    def changes(self) -> Changes:
        """For an operator that takes it over."""
        return Changes(self.slices, [], json.dumps(stamp(FORMAT) | {"sections": self.headers}).encode())

    def parts(self, section: str) -> list[tuple[int, pa.RecordBatch]]:
        """The slices of a section, in order."""
        return sorted(((number, rows) for (name, number), rows in self.slices.items() if name == section), key=_number)

    def rows(self, section: str) -> pa.RecordBatch | None:
        """All rows of a section together; None if it has none."""
        parts = [rows for _, rows in self.parts(section)]
        return pa.concat_batches(parts) if parts else None

    def notes(self, section: str, fill: int, first: int, count: int) -> Ids:
        """The notes about stored tuples, the first of which has this id."""
        notes = np.full(count, fill)
        for _, rows in self.parts(section):
            ids, values = (rows.column(at).to_numpy() for at in range(2))
            known = ids >= first
            notes[ids[known] - first] = values[known]
        return notes


def _number(part: tuple[int, pa.RecordBatch]) -> int:
    return part[0]


def can_be_dealt(changes: Changes) -> bool:
    """Whether it is the state of one operator, and every section is known here; what new ones hold nobody can say."""
    headers = read_header(changes.header).get("sections")
    return headers is not None and all(name.partition("/")[0] in {*_KNOWN, *_FILLS} for name in headers)


def gather(query: JoinQuery, grid: Grid, cells: Sequence[Changes], extra: Mapping[str, int]) -> Changes:
    """The state of one operator that does what the cells did; ``extra``: rows of a stream that several have counted."""
    states = [State.of(changes) for changes in cells]
    slices: Slices = {}
    for stream in query.streams:
        slices |= _stored(query, grid, stream.name, states)
        for kind in _PILES:
            piled = [rows for rows, _ in _each_once(query, grid, stream.name, kind, states)]
            slices |= _pile(f"{kind}/{stream.name}", piled, _times_of(query, stream.name))
    waiting = [rows for state in states if (rows := state.rows("open")) is not None]
    slices |= {("open", 1): pa.concat_batches(waiting)} if waiting else {}
    held = [rows for state in states if (rows := state.rows("held")) is not None]
    slices |= _pile("held", held, _result_times)
    live = [rows for state in states if (rows := state.rows("live")) is not None]
    slices |= _pile("live", live, _last_times)
    lost = [rows for state in states for _, rows in state.parts("diverted")]
    slices |= {("diverted", number): rows for number, rows in enumerate(lost)}
    return State(slices, headers_together(grid, [state.headers for state in states], slices, extra)).changes()


def _each_once(
    query: JoinQuery, grid: Grid, name: str, kind: str, states: Sequence[State]
) -> Iterator[tuple[pa.RecordBatch, dict[str, Ids]]]:
    """Of every cell the rows of a stream that no other one gives, with the notes about them."""
    section, times_of = f"{kind}/{name}", _times_of(query, name)
    found = [state.rows(section) for state in states]
    empty = next((rows.slice(0, 0) for rows in found if rows is not None), None)
    if empty is None:
        return
    whole = [empty if rows is None else rows for rows in found]
    cells = [replace(_as_rows(name, rows), times=times_of(rows)) for rows in whole]
    kept = one_copy_each(grid, cells, key_splits(query, grid))
    for cell, (state, rows) in enumerate(zip(states, whole, strict=True)):
        if not rows.num_rows:
            continue
        first = state.parts(section)[0][0]
        marked = {m: f for m, f in _FILLS.items() if kind == "window" and f"{m}/{name}" in state.headers}
        notes = {mark: state.notes(f"{mark}/{name}", fill, first, rows.num_rows) for mark, fill in marked.items()}
        if kept is not None:
            own = kept[cell]
            rows, notes = rows.filter(pa.array(own)), {mark: values[own] for mark, values in notes.items()}
        yield rows, notes


def _as_rows(name: str, rows: pa.RecordBatch) -> Rows:
    columns = {(name, field): column for field, column in zip(rows.schema.names, rows.columns, strict=True)}
    return Rows(name, columns, rows.num_rows, 0)


def _stored(query: JoinQuery, grid: Grid, name: str, states: Sequence[State]) -> Slices:
    """The tuples of a window in order of time, and the notes about them under their new ids."""
    found = list(_each_once(query, grid, name, "window", states))
    if not found:
        return {}
    rows = pa.concat_batches([each for each, _ in found])
    places = places_in_order(_times_of(query, name)(rows))
    notes = {mark: np.concatenate([each[mark] for _, each in found]) for mark in found[0][1]}
    if places is not None:
        rows, notes = rows.take(pa.array(places)), {mark: values[places] for mark, values in notes.items()}
    return _window(name, rows, notes)


def _window(name: str, rows: pa.RecordBatch, notes: Mapping[str, Ids]) -> Slices:
    slices: Slices = {(f"window/{name}", 0): rows} if rows.num_rows else {}
    for mark, values in notes.items():
        ids = np.flatnonzero(values != _FILLS[mark])
        if len(ids):
            arrays = [pa.array(ids), pa.array(values[ids])]
            slices[f"{mark}/{name}", 0] = pa.RecordBatch.from_arrays(arrays, names=["id", "value"])
    return slices


def _pile(section: str, parts: Sequence[pa.RecordBatch], times_of: Callable[[pa.RecordBatch], Ids]) -> Slices:
    if not sum(rows.num_rows for rows in parts):
        return {}
    rows = pa.concat_batches(parts)
    places = places_in_order(times_of(rows))
    return {(section, 0): rows if places is None else rows.take(pa.array(places))}


def _times_of(query: JoinQuery, name: str) -> Callable[[pa.RecordBatch], Ids]:
    time = query.stream(name).time
    return lambda rows: times_us(rows.column(rows.schema.get_field_index(time)))


def _result_times(rows: pa.RecordBatch) -> Ids:
    return times_us(rows.column("result_time"))


def _last_times(rows: pa.RecordBatch) -> Ids:
    return values_of(rows.column(UNTIL))


def deal_out(query: JoinQuery, grid: Grid, whole: Changes) -> list[Changes]:
    """The states of the cells of a grid."""
    state = State.of(whole)
    slices: list[Slices] = [{} for _ in range(grid.cells)]
    slices[0] |= {key: rows for key, rows in state.slices.items() if key[0] == "diverted"}
    if query.aggregation is None:
        slices[0] |= {key: rows for key, rows in state.slices.items() if key[0] == "held"}
    else:
        _deal_groups(query, grid, state, slices)
    for name in query.names:
        _deal_stored(grid, name, state, slices)
        for kind in _PILES:
            _deal_pile(grid, name, kind, state, slices)
    if query.answered is not None:
        _deal_open(grid, query.answered, state, slices)
    return [State(own, header_of_cell(state.headers, cell, own)).changes() for cell, own in enumerate(slices)]


def _deal_stored(grid: Grid, name: str, state: State, slices: Sequence[Slices]) -> None:
    rows = state.rows(f"window/{name}")
    if rows is None:
        return
    first = state.parts(f"window/{name}")[0][0]
    marked = {mark: fill for mark, fill in _FILLS.items() if f"{mark}/{name}" in state.headers}
    notes = {mark: state.notes(f"{mark}/{name}", fill, first, rows.num_rows) for mark, fill in marked.items()}
    order, ends = deal(grid, _as_rows(name, rows))
    for cell, (start, stop) in enumerate(pairwise(ends)):
        own = order[start:stop]
        slices[cell].update(_window(name, rows.take(pa.array(own)), {mark: of[own] for mark, of in notes.items()}))


def _deal_groups(query: JoinQuery, grid: Grid, state: State, slices: Sequence[Slices]) -> None:
    """Results that wait or count go to the cell of their group."""
    keys = [key for key in keys_of_groups(query, grid) if key is not None]
    axes = tuple(KeyAxis({GROUP: key}, axis.size) for axis, key in zip(grid.axes, keys, strict=True))
    groups = Grid((GROUP,), axes)
    for section in ("held", "live"):
        for number, rows in state.parts(section):
            order, ends = deal(groups, _as_rows(GROUP, rows))
            for cell, (start, stop) in enumerate(pairwise(ends)):
                if stop > start:
                    slices[cell][section, number] = rows.take(pa.array(order[start:stop]))


def _deal_open(grid: Grid, name: str, state: State, slices: Sequence[Slices]) -> None:
    """Rows whose answers are open: two columns about them, then their own."""
    for number, rows in state.parts("open"):
        order, ends = deal(grid, _as_rows(name, rows.select(range(2, rows.num_columns))))
        for cell, (start, stop) in enumerate(pairwise(ends)):
            if stop > start:
                slices[cell]["open", number] = rows.take(pa.array(order[start:stop]))


def _deal_pile(grid: Grid, name: str, kind: str, state: State, slices: Sequence[Slices]) -> None:
    for number, rows in state.parts(f"{kind}/{name}"):
        order, ends = deal(grid, _as_rows(name, rows))
        for cell, (start, stop) in enumerate(pairwise(ends)):
            if stop > start:
                slices[cell][f"{kind}/{name}", number] = rows.take(pa.array(order[start:stop]))
