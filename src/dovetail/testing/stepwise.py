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
"""

from collections.abc import Iterator

from dovetail.model.query import JoinQuery
from dovetail.model.steps import kept_for_us, step_of
from dovetail.model.window import UNBOUNDED_US, TimeWindow
from dovetail.testing.history import History, Tuple
from dovetail.testing.interpret import holds, interpret

Members = dict[str, Tuple]
Result = tuple[int, Members]


def stepwise_results(query: JoinQuery, history: History) -> Iterator[Result]:
    """Every result as its time and its members; a missing side has no member."""
    first = query.names[0]
    combinations: list[tuple[int | None, Members]] = [(None, {first: row}) for row in history.tuples[first]]
    kept = kept_for_us(query.streams, query.words)
    for name in query.words:
        passing = [row for row in history.tuples[name] if _passes(query, row)]
        fitting = [[row for row in passing if _fits(query, members, row)] for _, members in combinations]
        fitted = {row for rows in fitting for row in rows}
        combinations = [
            each
            for (time_us, members), rows in zip(combinations, fitting, strict=True)
            for each in _joined(query, name, time_us, members, rows)
        ]
        for row in history.tuples[name] if name in kept else ():
            if row not in fitted:
                after = 0 if kept[name] >= UNBOUNDED_US else kept[name]
                combinations.append((row.time_us + after, {name: row}))
    for time_us, members in combinations:
        yield max(row.time_us for row in members.values()) if time_us is None else time_us, members


def _joined(
    query: JoinQuery, name: str, time_us: int | None, members: Members, fitting: list[Tuple]
) -> Iterator[tuple[int | None, Members]]:
    word = query.words[name]
    if word not in ("semi", "anti"):
        for row in fitting:
            yield time_us, {**members, name: row}
    if (word == "semi" and fitting) or (word in ("left", "full", "anti") and not fitting):
        yield _leaves(query, members) if time_us is None else time_us, members


def _leaves(query: JoinQuery, members: Members) -> int:
    windowed = [row for row in members.values() if not _window(query, row.stream).unbounded]
    ends = [row.time_us + _window(query, row.stream).length_us for row in windowed]
    return min(ends) if ends else max(row.time_us for row in members.values())


def _fits(query: JoinQuery, members: Members, row: Tuple) -> bool:
    together = {**members, row.stream: row}
    newest = max(each.time_us for each in together.values())
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
