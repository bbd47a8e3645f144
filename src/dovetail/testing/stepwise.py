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

It is certain, and comes out, when its rows have come and nothing can undo it any more. A partner that was there stays.
Where there was none, one could come up to the smallest ``time + window`` of the members that the combination had then:
so that stream, and no other, must have passed this. A row that begins a combination comes out when each stream before
it has passed what could still decide about it (``known_after_us``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dovetail.model.query import JoinQuery
from dovetail.model.steps import kept_for_us, known_after_us, step_of
from dovetail.model.window import UNBOUNDED_US, TimeWindow
from dovetail.testing.history import History, Tuple
from dovetail.testing.interpret import holds, interpret
from dovetail.testing.result import Members, Result


def stepwise_results(query: JoinQuery, history: History) -> Iterator[Result]:
    """Every result; a missing side has no member."""
    first = query.names[0]
    combinations = [Result(None, {first: row}) for row in history.tuples[first]]  # no time yet: nothing was missing
    kept, after = kept_for_us(query.streams, query.words), known_after_us(query.streams, query.words)
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
            alone = [row for row in history.tuples[name] if row not in fitted]
            combinations += [_begun(row, kept[name], after[name]) for row in alone]
    for each in combinations:
        yield replace(each, time_us=_newest(each.members)) if each.time_us is None else each


def _joined(query: JoinQuery, name: str, before: Result, fitting: list[Tuple]) -> Iterator[Result]:
    word = query.words[name]
    if word not in ("semi", "anti"):
        for row in fitting:
            yield replace(before, members={**before.members, name: row})
    if (word == "semi" and fitting) or (word in ("left", "full", "anti") and not fitting):
        yield _without(query, before, name)


def _without(query: JoinQuery, before: Result, name: str) -> Result:
    """A combination that goes on without a row of a stream, which must have passed it unless it has come."""
    windowed = [row for row in before.members.values() if not _window(query, row.stream).unbounded]
    end = min((row.time_us + _window(query, row.stream).length_us for row in windowed), default=None)
    time = before.time_us if before.time_us is not None else _newest(before.members) if end is None else end
    passed = {} if query.words[name] == "semi" else {name: UNBOUNDED_US if end is None else end}
    return replace(before, time_us=time, passed=tuple({**way, **passed} for way in before.passed))


def _begun(row: Tuple, kept_us: int, after_us: Mapping[str, int]) -> Result:
    """A combination that begins with a row, because nothing before fits it."""
    passed = {name: row.time_us + us for name, us in after_us.items()}
    return Result(row.time_us if kept_us >= UNBOUNDED_US else row.time_us + kept_us, {row.stream: row}, (passed,))


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
