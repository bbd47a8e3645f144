"""The definition of a join of one stream after the other, as a slow and obvious program.

Every row of the first stream begins a combination. Stream after stream, the rows that fit it are those for which the
conditions of that stream hold and all members are inside their windows, as seen from the newest of them:

    inner   goes on with each of them              semi   goes on without them, if there are any
    left    the same, and without if there is none  anti   goes on without, if there are none
    right   as inner; and rows that fit none begin  full   as left, and as right

A combination that goes on without a row is certain once none can come any more: the first time it does so, the smallest
``time + window`` of its members that have a window is its result time. One that never does, or none of whose members
has one, has the time of its newest member. One that begins later has the time at which it is certain that the row fits
nothing before it (``kept_for_us``), or its row's own time if that is so at the end only.

What is complete comes out when its last row has come. What is certain later comes out when the first of the members
that it had when it went on leaves: all streams but its own have passed its ``time + window``. Rows that always stay as
long as that of the first stream (``outlasting``) are not asked. A row that begins a combination comes out when all
streams have passed the time at which that is certain.
"""

from collections.abc import Iterator
from dataclasses import replace

from dovetail.model.intervals import outlasting
from dovetail.model.query import JoinQuery
from dovetail.model.steps import kept_for_us, step_of
from dovetail.model.window import UNBOUNDED_US, TimeWindow
from dovetail.testing.history import History, Tuple
from dovetail.testing.interpret import holds, interpret
from dovetail.testing.result import Members, Result


def stepwise_results(query: JoinQuery, history: History) -> Iterator[Result]:
    """Every result; a missing side has no member."""
    first = query.names[0]
    combinations = [Result(None, {first: row}) for row in history.tuples[first]]  # no time yet: nothing was missing
    kept = kept_for_us(query.streams, query.words)
    for name in query.words:
        passing = [row for row in history.tuples[name] if _passes(query, row)]
        fitting = [[row for row in passing if _fits(query, each.members, row)] for each in combinations]
        fitted = {row for rows in fitting for row in rows}
        combinations = [
            longer
            for each, rows in zip(combinations, fitting, strict=True)
            for longer in _joined(query, name, each, rows)
        ]
        if name in kept:
            combinations += [_begun(query, row, kept[name]) for row in history.tuples[name] if row not in fitted]
    for each in combinations:
        yield replace(each, time_us=_newest(each.members)) if each.time_us is None else each


def _joined(query: JoinQuery, name: str, before: Result, fitting: list[Tuple]) -> Iterator[Result]:
    word = query.words[name]
    if word not in ("semi", "anti"):
        for row in fitting:
            yield replace(before, members={**before.members, name: row})
    if (word == "semi" and fitting) or (word in ("left", "full", "anti") and not fitting):
        yield _without(query, before.members) if before.time_us is None else before


def _without(query: JoinQuery, members: Members) -> Result:
    """A combination that goes on without a row for the first time."""
    windowed = {name: row for name, row in members.items() if not _window(query, name).unbounded}
    ends = {name: row.time_us + _window(query, name).length_us for name, row in windowed.items()}
    asked = ends.keys() - outlasting(query.streams, query.predicates)
    leaves = [{other: ends[name] for other in query.names if other != name} for name in asked]
    return Result(min(ends.values(), default=_newest(members)), members, tuple(leaves))


def _begun(query: JoinQuery, row: Tuple, kept_us: int) -> Result:
    """A combination that begins with a row, because nothing before fits it."""
    if kept_us >= UNBOUNDED_US:
        return Result(row.time_us, {row.stream: row}, ())
    end = row.time_us + kept_us
    return Result(end, {row.stream: row}, (dict.fromkeys(query.names, end),))


def _newest(members: Members) -> int:
    return max(row.time_us for row in members.values())


def _fits(query: JoinQuery, members: Members, row: Tuple) -> bool:
    together = {**members, row.stream: row}
    newest = _newest(together)
    if any(newest - each.time_us > _window(query, each.stream).length_us for each in together.values()):
        return False
    values = {name: each.values for name, each in together.items()}
    return all(holds(each, values) for each in query.predicates if step_of(each, query.names) == row.stream)


def _passes(query: JoinQuery, row: Tuple) -> bool:
    return all(interpret(each, {row.stream: row.values}) is True for each in query.filters_of(row.stream))


def _window(query: JoinQuery, name: str) -> TimeWindow:
    window = query.stream(name).window
    assert isinstance(window, TimeWindow)
    return window
