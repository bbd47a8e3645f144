"""Why a row has not come out, from the query and the state alone.

    A.k = B.k, windows of 10 s; A has k=1 at 12:00:03          "in the window of 'A'; 'B': 4 rows in time, none fits"

The first reason that applies decides: no time, own conditions, waits at the gate, expired, late, not there. Of a row
that is stored: how many partners each other stream has for it, and how far that stream has come.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.block.arrow_values import true_rows
from dovetail.engine.buffer.section import Changes
from dovetail.engine.evaluate import evaluate
from dovetail.engine.operator.engine import Engine
from dovetail.engine.operator.survey import StreamSurvey, rows_of, survey_state
from dovetail.model.expression import Column
from dovetail.model.nested import path_of, with_extracted
from dovetail.model.output import Output
from dovetail.model.predicate import predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow
from dovetail.plan.plan_query import plan_query

Reason = Literal["no time", "filtered", "waiting", "late", "expired", "unknown", "no partner", "held", "out"]


@dataclass(frozen=True)
class Why:
    """The reason in a word, sentences that say more, and of each other stream how many stored rows fit."""

    reason: Reason
    sentences: tuple[str, ...]
    partners: dict[str, int]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def why_anywhere(query: JoinQuery, states: Iterable[Changes], stream: Stream, rows: pa.Table) -> Why:
    """The same over the buckets of a checkpoint: what the one says that has the row."""
    found = [why(query, state, stream, rows) for state in states]
    return max(found, key=lambda each: each.reason in ("waiting", "no partner", "held", "out"))


def why(query: JoinQuery, state: Changes, stream: Stream, rows: pa.Table) -> Why:
    """About the one row of ``rows``, which is as it was pushed."""
    known = [field.name for field in stream.schema if path_of(field)[0] in rows.column_names]
    rows = with_extracted(rows, stream.schema, known)
    time = rows[stream.time][0]
    if not time.is_valid:
        return _simply("no time", f"{stream.time} is NULL: such rows are counted (null_time) and take no part.")
    failed = [str(each) for each in query.filters_of(stream.name) if not _meets(each, stream, rows)]
    if failed and stream.name not in query.preserved:
        return _simply("filtered", f"it does not meet {' AND '.join(failed)}, so it takes no part.")
    surveyed = {each.stream: each for operator in survey_state(state) for each in operator.streams}
    at = _microseconds(time)
    if _contains(rows_of(state, "waiting", stream.name), rows):
        behind = surveyed[stream.name].waits_for
        waits = f"it waits for {behind!r}, whose watermark is {_shown(surveyed[behind])}" if behind else "it waits"
        return _simply("waiting", f"{waits}: rows of this query are joined in order of time.")
    if not _contains(rows_of(state, "window", stream.name), rows):
        return _absent(stream, surveyed, at)
    return _stored(query, state, stream, rows, surveyed)


def _simply(reason: Reason, sentence: str) -> Why:
    return Why(reason, (sentence,), {})


def _meets(condition: Any, stream: Stream, rows: pa.Table) -> bool:
    columns = {(stream.name, name): rows[name].combine_chunks() for name in rows.column_names}
    return bool(true_rows(evaluate(condition, columns, 1))[0])


def _absent(stream: Stream, surveyed: dict[str, StreamSurvey], at: int) -> Why:
    own, others = surveyed[stream.name], [each for name, each in surveyed.items() if name != stream.name]
    marks = [each.watermark_us for each in others if each.watermark_us is not None]
    if isinstance(stream.window, TimeWindow) and len(marks) == len(others):
        leaves = at + stream.window.length_us
        if min(marks) > leaves:
            return _simply("expired", "its window has closed: every other stream is past its time plus its window.")
    if own.watermark_us is not None and at < own.watermark_us:
        late = f"it is older than the watermark of {stream.name!r}, {_shown(own)}"
        return _simply("late", f"{late}: if it came after that, it was late; a longer delay= would keep such rows.")
    return _simply("unknown", f"no such row of {stream.name!r} is stored: it has not come, or a budget dropped it.")


def _stored(query: JoinQuery, state: Changes, stream: Stream, rows: pa.Table, surveyed: dict[str, StreamSurvey]) -> Why:
    others = [each for each in query.streams if each.name != stream.name]
    partners = {each.name: _partners(query, state, stream, rows, each) for each in others}
    sentences = [f"it is in the window of {stream.name!r}."]
    for name, count in partners.items():
        mark = "may still come" if surveyed[name].watermark_us is not None else "nothing has come yet"
        fits = f"{count} stored row{'' if count == 1 else 's'} of {name!r} fit{'s' if count == 1 else ''}"
        sentences.append(f"{fits}; its watermark is {_shown(surveyed[name])}, so more {mark}.")
    if all(partners.values()):
        reason: Reason = "held" if sum(operator.held for operator in survey_state(state)) else "out"
        held = "results wait for their order until every stream has come that far"
        sentences.append(f"{held}." if reason == "held" else "every other stream has a partner for it: if they fit "
                         "each other too, its results have come out.")  # fmt: skip
        return Why(reason, tuple(sentences), partners)
    return Why("no partner", tuple(sentences), partners)


def _partners(query: JoinQuery, state: Changes, stream: Stream, rows: pa.Table, other: Stream) -> int:
    """How many stored rows of another stream are in time and meet all conditions between the two: a join of its own."""
    pair = (_unbounded(stream), _unbounded(other))
    between = tuple(each for each in query.predicates if predicate_streams(each) <= {stream.name, other.name})
    filters = tuple((name, condition) for name, condition in query.filters if name in (stream.name, other.name))
    select = (Output("time", Column(stream.name, stream.time, stream.time_type)),)
    asked = JoinQuery(pair, between, filters, select, cross=True)
    engine = Engine(plan_query(asked))
    stored = [_whole(batch, other) for batch in rows_of(state, "window", other.name)]
    found = 0
    for name, batch in [(stream.name, rows.combine_chunks().to_batches()[0]), *((other.name, b) for b in stored)]:
        found += sum(results.num_rows for results in engine.push({name: batch}))
    return found


def _unbounded(stream: Stream) -> Stream:
    """The same stream without lateness, so that stored rows may be pushed in any order."""
    window = stream.window if isinstance(stream.window, TimeWindow) else TimeWindow(_FOREVER_US)
    return replace(stream, window=window, delay_us=_FOREVER_US, idle_us=None, ahead_us=None, dedup=None)


_FOREVER_US = 1 << 60  # longer than any window, and still no overflow when added to a time


def _whole(batch: pa.RecordBatch, stream: Stream) -> pa.RecordBatch:
    """Stored rows with NULL for the columns that nothing of the query needs."""
    columns = [
        batch[field.name] if field.name in batch.schema.names else pa.nulls(batch.num_rows, field.type)
        for field in stream.schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=stream.schema)


def _contains(stored: list[pa.RecordBatch], rows: pa.Table) -> bool:
    return any(_equal(batch, rows) for batch in stored)


def _equal(batch: pa.RecordBatch, rows: pa.Table) -> bool:
    """Whether some stored row has the row's values in all columns that are stored and can be compared."""
    same = None
    known = {field.name for field in batch.schema if not pa.types.is_nested(field.type)}
    for name in known & set(rows.column_names):
        value = rows[name][0].cast(batch.schema.field(name).type)
        equal = pc.equal(batch[name], value) if value.is_valid else pc.is_null(batch[name])
        same = equal if same is None else pc.and_kleene(same, equal)
    return same is not None and bool(pc.any(same).as_py())


def _microseconds(time: pa.Scalar) -> int:
    return int(time.cast(pa.timestamp("us", time.type.tz), safe=False).value)


def _shown(survey: StreamSurvey) -> str:
    if survey.watermark_us is None:
        return "not known yet"
    return str(pa.scalar(survey.watermark_us, pa.timestamp("us")).as_py())
