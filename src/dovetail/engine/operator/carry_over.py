"""The state of a query as that of a changed one: what goes over, what cannot, and from when on nothing is missing.

    stays as it is     how far streams have come, rows that wait, results that wait, who has found a partner, counters
    is cut to fit      stored rows, to the columns that are still read; a narrower window forgets by itself
    leaves             where windows change, rows that had left theirs: stored or not, they meet nobody any more
    begins anew        plans and what control has learned
    is missing         stored rows that lack a column which is read now

Results of rows that all came before the change are those of the old query, all others the new one's. From the result
time ``complete_from`` on they are what the new query alone would give; before it, what had left is missing to it.
"""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.section import Changes, Slices
from dovetail.engine.operator.forget_left import forget_left
from dovetail.engine.operator.state import FORMAT, read_header
from dovetail.errors import StateError
from dovetail.model.fingerprint import fingerprint
from dovetail.model.query import JoinQuery
from dovetail.model.stamp import stamp
from dovetail.model.window import UNBOUNDED_US, TimeWindow
from dovetail.plan.physical import Plan

_CARRIED = (
    *("inputs", "watermarks", "horizon", "waiting", "dedup", "diverted", "window", "given", "alone", "best"),
    *("held", "delivered", "certain"),
)
_BEGIN_ANEW = ("decision", "control")


def carry_over(old: Plan, new: Plan, state: Changes, fresh: Changes) -> Changes:
    """What ``old`` has left, for ``new`` to go on from; ``fresh`` is the state of the new operator as it begins."""
    if fingerprint(old.query) == fingerprint(new.query):
        return state
    _check_alike(old.query, new.query)
    headers, own = (_sections(changes) for changes in (state, fresh))
    lacking = {name: _lacking(state, name, new) for name in new.query.names}
    _check_complete(old.query, new.query, lacking)
    if _resized(old.query, new.query):
        state, headers = forget_left(old.query, state, headers)
    slices = _held(old.query, new.query, state.new)
    for (section, number), rows in state.new.items():
        kind, _, name = section.partition("/")
        if kind in ("window", "waiting"):
            if not lacking[name]:
                slices[section, number] = _cut(rows, new.columns[name])
        elif kind in ("given", "alone", "best", "diverted", "dedup"):
            slices[section, number] = rows
    carried = {name: header for name, header in headers.items() if name in own and name.partition("/")[0] in _CARRIED}
    for name in new.query.names:
        if lacking[name]:
            carried[f"window/{name}"] = headers[f"window/{name}"] | {"tail": headers[f"window/{name}"]["end"]}
    since = _complete_from(old.query, new.query, headers["watermarks"], lacking)
    carried["watermarks"] = headers["watermarks"] | ({} if since is None else {"complete_from": since})
    return Changes(slices, [], json.dumps(stamp(FORMAT) | {"sections": own | carried}).encode())


def _sections(changes: Changes) -> dict[str, Any]:
    """The headers of all sections, if they are those of one operator without a budget."""
    sections: dict[str, Any] = read_header(changes.header).get("sections", {})
    known = (*_CARRIED, *_BEGIN_ANEW)
    unknown = [name for name, header in sections.items() if header and name.partition("/")[0] not in known]
    if unknown or not sections:
        raise StateError(
            "resume: this state is not that of one window join without a budget and without aggregates, and only such "
            "a state goes over to a changed query. Resume it with the query that left it."
        )
    return sections


def _check_alike(old: JoinQuery, new: JoinQuery) -> None:
    """The same join over the same streams; windows, columns, order and how it is computed may differ."""
    parts = {
        "streams": [(stream.name, stream.time, stream.dedup) for stream in old.streams],
        "join": old.how,
        "conditions": _conditions(old),
        "aggregates": old.aggregation,
    }
    others = {
        "streams": [(stream.name, stream.time, stream.dedup) for stream in new.streams],
        "join": new.how,
        "conditions": _conditions(new),
        "aggregates": new.aggregation,
    }
    differ = next((what for what in parts if parts[what] != others[what]), None)
    if differ is not None:
        raise StateError(
            f"resume: the {differ} of the two queries differ: {parts[differ]} and {others[differ]}. A query goes on "
            "from another's state if streams, kind of join and conditions are the same; start it without one."
        )
    for stream in old.streams:
        window, other = stream.window, new.stream(stream.name).window
        if window != other and not (isinstance(window, TimeWindow) and isinstance(other, TimeWindow)):
            raise StateError(
                f"resume: the window of stream {stream.name!r} was {window} and is {other}; only the length of a time "
                "window can change. Keep it as it was, or start without a state."
            )


def _conditions(query: JoinQuery) -> list[str]:
    return sorted([*map(str, query.predicates), *(str(condition) for _, condition in query.filters)])


def _lacking(state: Changes, name: str, new: Plan) -> list[str]:
    """The columns that are read now and that stored or waiting rows of a stream have not."""
    schema = new.query.stream(name).schema
    kinds = (f"window/{name}", f"waiting/{name}")
    stored = [rows.schema for (section, _), rows in state.new.items() if section in kinds]
    return [
        column
        for column in new.columns[name]
        if any(column not in each.names or each.field(column).type != schema.field(column).type for each in stored)
    ]


def _check_complete(old: JoinQuery, new: JoinQuery, lacking: Mapping[str, list[str]]) -> None:
    """A row without a partner would be a wrong row if its partner had been forgotten, or were judged otherwise."""
    counted = next((name for name, columns in lacking.items() if columns and _counts_rows(new, name)), None)
    if counted is not None:
        raise StateError(
            f"resume: stream {counted!r} has a row window, and its stored rows lack column {lacking[counted][0]!r}, "
            "which is new. Keep the columns that are read, or start without a state."
        )
    if new.how == "inner":
        return
    short = next((name for name, columns in lacking.items() if columns), None)
    if short is not None:
        raise StateError(
            f"resume: in a {new.how} join column {lacking[short][0]!r}, which is new, would make rows come out that "
            "have a partner. Keep the columns that are read, or start without a state."
        )
    endless = next((name for name in _alone(new) if not _bounded(old, name) or not _bounded(new, name)), None)
    if _resized(old, new) and (endless is not None or new.stepwise):
        what = "more than two streams" if new.stepwise else f"stream {endless!r}, whose rows leave at no certain time,"
        raise StateError(
            f"resume: the windows of a {new.how} join of {what} stay as they are. Keep them, or start without a state."
        )


def _alone(query: JoinQuery) -> tuple[str, ...]:
    """The streams whose rows come out on their own."""
    return query.preserved or query.names[:1]


def _bounded(query: JoinQuery, name: str) -> bool:
    window = query.stream(name).window
    return isinstance(window, TimeWindow) and window.length_us < UNBOUNDED_US


def _resized(old: JoinQuery, new: JoinQuery) -> list[str]:
    """The streams whose windows are others."""
    return [stream.name for stream in new.streams if stream.window != old.stream(stream.name).window]


def _counts_rows(query: JoinQuery, name: str) -> bool:
    return not isinstance(query.stream(name).window, TimeWindow)


def _cut(rows: pa.RecordBatch, columns: tuple[str, ...]) -> pa.RecordBatch:
    return rows.select(list(columns)) if rows.schema.names != list(columns) else rows


def _held(old: JoinQuery, new: JoinQuery, slices: Slices) -> Slices:
    """The results that wait, with the columns of the new query; they were made from the old one's."""
    held = {key: rows for key, rows in slices.items() if key[0] == "held"}
    if not held:
        return {}
    made = [str(output.expression) for output in old.select]
    missing = next((o.name for o in new.select if str(o.expression) not in made), None)
    if missing is not None:
        raise StateError(
            f"resume: results still wait for their order, and they lack column {missing!r}, which is new. Let them "
            "come out first (advance the streams to the frontier), or keep the select list."
        )
    places = [0, *(1 + made.index(str(output.expression)) for output in new.select)]
    return {
        key: pa.RecordBatch.from_arrays([rows.column(at) for at in places], names=new.joined.names)
        for key, rows in held.items()
    }


def _complete_from(
    old: JoinQuery, new: JoinQuery, marks: Mapping[str, Any], lacking: Mapping[str, list[str]]
) -> int | None:
    """The earliest result time of which every member is known."""
    times = [int(marks["complete_from"])] if "complete_from" in marks else []
    for stream in new.streams:
        window, before = stream.window, old.stream(stream.name).window
        if lacking[stream.name]:
            largest = marks["largest"][stream.name]
            times += [largest + (window.length_us if isinstance(window, TimeWindow) else 0) + 1]
        elif isinstance(window, TimeWindow) and isinstance(before, TimeWindow) and window.length_us > before.length_us:
            others = min(mark for name, mark in marks["watermarks"].items() if name != stream.name)
            times += [others + window.length_us - before.length_us] if others > BEFORE_ALL else []
            times += [_after_all(marks)]  # pairs that came before the change were judged by the shorter window
    if new.how != "inner" and _resized(old, new):
        return max([*times, _after_all(marks)]) + max(_length(new, name) for name in _alone(new))
    return max(times, default=None)


def _after_all(marks: Mapping[str, Any]) -> int:
    """The first time that no row had which came before the change."""
    return 1 + int(max(marks["largest"].values()))


def _length(query: JoinQuery, name: str) -> int:
    window = query.stream(name).window
    return window.length_us if isinstance(window, TimeWindow) else 0
