"""A state without stored rows that have left their windows: an engine forgets them when it gets round to it.

A row has left once no row still to come could meet it: every other stream has come past its time plus its window. Of
a lazy window, or beside rows that came out of order, some such rows are still stored. As long as windows stay as they
are that makes no difference; under a longer window they would meet others, depending on what was forgotten when.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.conform import times_us
from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.buffer.section import Changes, Slices
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow

Times = npt.NDArray[np.int64]


def forget_left(query: JoinQuery, state: Changes, headers: Mapping[str, Any]) -> tuple[Changes, dict[str, Any]]:
    """All of a query's state and its headers without such rows; the others get new ids."""
    reach = {stream.name: _reach(stream, state.new, headers["watermarks"]) for stream in query.streams}
    slices, kept = dict(state.new), dict(headers)
    for stream in query.streams:
        rows = _taken(slices, f"window/{stream.name}")
        if not rows or not isinstance(stream.window, TimeWindow) or stream.timeless:
            slices |= {(f"window/{stream.name}", number): batch for number, batch in rows}
            continue
        others = min(time for name, time in reach.items() if name != stream.name)
        stored = pa.concat_batches([batch for _, batch in rows])
        stays = _times(stream, stored) + stream.window.length_us >= others
        slices |= _anew(stream.name, stored, stays, rows[0][0], slices)
        kept[f"window/{stream.name}"] = {"tail": 0, "end": int(stays.sum())}
    return Changes(slices, [], state.header), kept


def _reach(stream: Stream, slices: Slices, marks: Mapping[str, Any]) -> int:
    """The earliest time that a stream may still bring to the windows; rows may wait at the gate."""
    waiting = [_times(stream, rows) for (name, _), rows in slices.items() if name == f"waiting/{stream.name}"]
    return min([int(marks["watermarks"][stream.name]), *(int(times.min(initial=AFTER_ALL)) for times in waiting)])


def _times(stream: Stream, rows: pa.RecordBatch) -> Times:
    return times_us(rows.column(rows.schema.get_field_index(stream.time)))


def _taken(slices: Slices, section: str) -> list[tuple[int, pa.RecordBatch]]:
    """The slices of a section by number, taken out."""
    numbers = sorted(number for name, number in slices if name == section)
    return [(number, slices.pop((section, number))) for number in numbers]


def _anew(name: str, stored: pa.RecordBatch, stays: npt.NDArray[np.bool_], first: int, slices: Slices) -> Slices:
    """The rows that stay, and the notes about them, counted from 0."""
    made = {(f"window/{name}", 0): stored.filter(pa.array(stays))} if stays.any() else {}
    places = np.cumsum(stays) - 1
    for section in (f"given/{name}", f"best/{name}"):
        for number, notes in _taken(slices, section):
            ids = notes.column(0).to_numpy() - first
            known = (ids >= 0) & stays[np.maximum(ids, 0)]
            noted = [pa.array(places[ids[known]]), notes.column(1).filter(pa.array(known))]
            made[section, number] = pa.RecordBatch.from_arrays(noted, names=notes.schema.names)
    return {key: rows for key, rows in made.items() if rows.num_rows}
