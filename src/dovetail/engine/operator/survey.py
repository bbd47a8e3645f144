"""What a state holds, read from its slices and header alone: no query is needed.

    window of A     3 tuples, 96 bytes, from 12:00:03 to 12:00:05; watermark 12:00:03, 1 row waits for B

One operator has sections; a tree has a list of operators and groups of queries have them by name, each with its own
slices behind a prefix (``0:window/A``, ``aaeae2af|window/A``).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.section import Changes, Slices
from dovetail.engine.operator.state import read_header


@dataclass(frozen=True)
class StreamSurvey:
    """A stream of one operator: what its window holds, how far it has come, and what waits, for which stream.

    Times are microseconds since 1970; None where there is none.
    """

    stream: str
    tuples: int
    bytes: int
    oldest_us: int | None
    newest_us: int | None
    watermark_us: int | None
    waiting: int
    waits_for: str | None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Survey:
    """One operator: its streams, the results that wait for their order, and those given out."""

    streams: tuple[StreamSurvey, ...]
    held: int
    results: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"streams": [each.to_json() for each in self.streams], "held": self.held, "results": self.results}


def survey_state(state: Changes) -> list[Survey]:
    """Every operator of a state, those of a tree from the leaves up."""
    return [_survey(slices, header) for slices, header in _operators(state.new, json.loads(state.header))]


def rows_of(state: Changes, section: str, stream: str) -> list[pa.RecordBatch]:
    """The rows of a stream that are in its "window", or "waiting", of the first operator that has any."""
    found = (_of(slices, f"{section}/{stream}") for slices, _ in _operators(state.new, json.loads(state.header)))
    return next((rows for rows in found if rows), [])


def _operators(slices: Slices, header: Mapping[str, Any]) -> Iterator[tuple[Slices, dict[str, Any]]]:
    inner = header.get("operators")
    if inner is None:
        yield slices, read_header(json.dumps(header).encode())["sections"]
        return
    named = inner.items() if isinstance(inner, Mapping) else enumerate(inner)
    for name, own in named:
        prefix = f"{name}|" if isinstance(inner, Mapping) else f"{name}:"
        ours = {(key.removeprefix(prefix), n): rows for (key, n), rows in slices.items() if key.startswith(prefix)}
        yield from _operators(ours, json.loads(own) if isinstance(own, str) else own)


def _survey(slices: Slices, sections: Mapping[str, Any]) -> Survey:
    marks = sections["watermarks"]["watermarks"]
    slowest = min(marks, key=lambda name: marks[name], default=None)
    streams = tuple(_stream(name, slices, sections, slowest) for name in marks)
    held = sum(rows.num_rows for rows in _of(slices, "held"))
    return Survey(streams, held, int(sections.get("delivered", {}).get("results", 0)))


def _stream(name: str, slices: Slices, sections: Mapping[str, Any], slowest: str | None) -> StreamSurvey:
    window, waiting = _of(slices, f"window/{name}"), sum(rows.num_rows for rows in _of(slices, f"waiting/{name}"))
    skipped = _expired(sections.get(f"window/{name}", {}), slices, name)
    times = _times(window)
    oldest, newest = (None, None) if times is None else pc.min_max(times.slice(skipped)).values()
    return StreamSurvey(
        stream=name,
        tuples=sum(rows.num_rows for rows in window) - skipped,
        bytes=sum(rows.nbytes for rows in window),
        oldest_us=None if oldest is None else oldest.as_py(),
        newest_us=None if newest is None else newest.as_py(),
        watermark_us=_moment(sections["watermarks"]["watermarks"][name]),
        waiting=waiting,
        waits_for=slowest if waiting and slowest != name else None,
    )


def _expired(header: Mapping[str, Any], slices: Slices, name: str) -> int:
    """Tuples at the beginning of the first slice that the window has forgotten already."""
    first = min((number for section, number in slices if section == f"window/{name}"), default=0)
    return max(0, int(header.get("tail", 0)) - first)


def _of(slices: Slices, section: str) -> list[pa.RecordBatch]:
    return [slices[key] for key in sorted(slices) if key[0] == section]


def _times(window: list[pa.RecordBatch]) -> pa.ChunkedArray | None:
    """Event times in microseconds; a stream's time is the first of its stored columns."""
    if not window:
        return None
    times = pa.chunked_array([rows.column(0) for rows in window])
    return times.cast(pa.timestamp("us", times.type.tz), safe=False).cast(pa.int64())


def _moment(time_us: int) -> int | None:
    return time_us if BEFORE_ALL < time_us < AFTER_ALL else None
