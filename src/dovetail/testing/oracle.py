"""The definition of a window join, as a slow and obvious program.

It sees the whole history at once and goes through every combination of one tuple per stream with
nested loops, applying one rule:

    a combination is a result if and only if every predicate holds and every member is inside its
    own stream's window as seen from the newest member.

Watermarks, batches and arrival order matter only for which tuples are late (see ``history``).
Loops are cut short where a partial combination can no longer become a result: a predicate between
streams already bound has failed, or a member has fallen out of its time window, which it cannot
enter again because the newest time only grows.

    >>> import pyarrow as pa
    >>> from dovetail.model.expression import Column
    >>> from dovetail.model.predicate import Equality
    >>> from dovetail.model.output import Output
    >>> from dovetail.model.query import JoinQuery
    >>> from dovetail.model.stream import Stream
    >>> from dovetail.model.window import RowWindow, TimeWindow
    >>> from dovetail.testing.script import Push
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> s, t = (Stream(name, schema, "ts", TimeWindow(6)) for name in "ST")
    >>> keys = [Column(name, "k", pa.int64()) for name in "ST"]
    >>> query = JoinQuery((s, t), (Equality(*keys),), (), (Output("k", keys[0]),))
    >>> one, two = (pa.table({"ts": times, "k": [7, 8]}, schema) for times in ([1, 5], [8, 9]))
    >>> oracle(query, [Push.of("S", one), Push.of("T", two)]).rows["k"].to_pylist()
    [8]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from dovetail.model.predicate import predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow, TimeWindow
from dovetail.testing.asof import asof_results
from dovetail.testing.history import History, Tuple
from dovetail.testing.interpret import holds, interpret
from dovetail.testing.result import Members, Result
from dovetail.testing.script import Close, Script
from dovetail.testing.sliding import aggregated
from dovetail.testing.stepwise import stepwise_results
from dovetail.testing.unmatched import alone, end_us
from dovetail.testing.windows import RowCounts


@dataclass(frozen=True)
class Outcome:
    """What a query must give over a whole script, in order of result time.

    With ``late="keep"`` and late tuples, ``rows`` is what an endless delay would give: a run may
    give fewer inner results, and more unmatched rows. ``exact`` says that this is not the case.
    """

    rows: pa.Table
    late: dict[str, int]
    null_times: dict[str, int]
    exact: bool
    ahead: dict[str, int]
    repeated: dict[str, int]


def oracle(query: JoinQuery, script: Script) -> Outcome:
    """Everything a query must give for a script that is then closed."""
    history = History.of(query, script)
    results = _timed(history, list(_results(query, history)))
    late = {name: len(tuples) for name, tuples in history.late.items()}
    exact = query.late != "keep" or not any(late.values())
    rows = _table(query, results)
    rows = aggregated(query, rows) if query.aggregation else rows
    ahead = {name: len(tuples) for name, tuples in history.ahead.items()}
    return Outcome(rows, late, dict(history.null_times), exact, ahead, dict(history.repeated))


def certain(query: JoinQuery, script: Script) -> pa.Table:
    """The rows that must have come out after a script, in order of result time: those that are certain by then.

    ``result`` says when that is. After ``Close`` all are.
    """
    assert query.aggregation is None, "aggregates come out by moments, not by results"
    history = History.of(query, script)
    ended = any(isinstance(event, Close) for event in script)
    results = _timed(history, list(_results(query, history)))
    return _table(query, [each for each in results if ended or each.is_certain(history)])


def _timed(history: History, results: list[Result]) -> list[Result]:
    """Results in order of time; what stays to the end has that of the end."""
    given = [each.time_us for each in results if each.time_us is not None]
    timed = [each if each.time_us is not None else replace(each, time_us=end_us(history, given)) for each in results]
    return sorted(timed, key=lambda each: each.time_us or 0)


def _results(query: JoinQuery, history: History) -> Iterator[Result]:
    """Every result; the missing side of an outer join has no member."""
    if query.answered is not None:
        return asof_results(query, history)
    return stepwise_results(query, history) if query.stepwise else _window_results(query, history)


def _window_results(query: JoinQuery, history: History) -> Iterator[Result]:
    counts = RowCounts(query, history)
    counted = [stream.name for stream in query.streams if isinstance(stream.window, RowWindow)]
    matches = [(result_time(members), members) for members in combinations(query, history, counts)]
    if query.how in ("inner", "left", "right", "full"):
        for time_us, members in matches:
            yield Result(time_us, members, (dict.fromkeys(counted, time_us),))
    for name in preserved(query):
        first: dict[Tuple, int] = {}
        for time_us, members in matches:
            first[members[name]] = min(time_us, first.get(members[name], time_us))
        for row in history.tuples[name]:
            if query.how != "semi" and row not in first:
                yield alone(counts, row)
            elif query.how == "semi" and row in first:
                reached = dict.fromkeys(query.names, first[row] - 1) | dict.fromkeys(counted, first[row])
                yield Result(first[row], {name: row}, (reached,))


def preserved(query: JoinQuery) -> tuple[str, ...]:
    """The streams whose rows come out on their own: unmatched, or for a semi join matched."""
    left, right = query.names[0], query.names[-1]
    sides: dict[str, tuple[str, ...]] = {"inner": (), "right": (right,), "full": (left, right)}
    return sides.get(query.how, (left,))


def combinations(query: JoinQuery, history: History, counts: RowCounts) -> Iterator[Members]:
    """The one rule: all combinations whose predicates hold and whose members are inside their windows."""
    passing = {
        stream.name: [row for row in history.tuples[stream.name] if _passes(query, row)] for stream in query.streams
    }

    def extend(members: Members) -> Iterator[Members]:
        if len(members) == len(query.streams):
            if all(counts.inside(member, members) for member in members.values()):
                yield members
            return
        name = query.names[len(members)]
        for row in passing[name]:
            extended = {**members, name: row}
            if _inside_time_windows(query, extended) and _predicates_hold(query, extended, name):
                yield from extend(extended)

    return extend({})


def result_time(members: Members) -> int:
    """The largest member time."""
    return max(member.time_us for member in members.values())


def _passes(query: JoinQuery, row: Tuple) -> bool:
    """Whether a tuple satisfies the predicates on its stream alone."""
    own = [condition for name, condition in query.filters if name == row.stream]
    return all(interpret(condition, {row.stream: row.values}) is True for condition in own)


def _inside_time_windows(query: JoinQuery, members: Members) -> bool:
    now = result_time(members)
    windows = {name: query.stream(name).window for name in members}
    return all(
        now - members[name].time_us <= window.length_us
        for name, window in windows.items()
        if isinstance(window, TimeWindow) and not window.unbounded
    )


def _predicates_hold(query: JoinQuery, members: Members, added: str) -> bool:
    """The predicates that mention the stream just added and no stream still to come."""
    row = {name: member.values for name, member in members.items()}
    due = [each for each in query.predicates if added in predicate_streams(each) <= members.keys()]
    return all(holds(predicate, row) for predicate in due)


def _table(query: JoinQuery, results: Sequence[Result]) -> pa.Table:
    rows = [{name: member.values for name, member in each.members.items()} for each in results]
    times = pa.array([each.time_us for each in results], pa.int64()).cast(query.time_type)
    columns = [
        pa.array([interpret(output.expression, row) for row in rows], output.expression.type) for output in query.select
    ]
    return pa.Table.from_arrays([times, *columns], schema=query.joined)
