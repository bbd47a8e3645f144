"""Joins by stream give a row as early as they can: when no row that may still come could undo it, by trying them all.

A row that may still come has any time from its stream's watermark on, and meets every condition. What is a result
beside each of them is certain. Nothing of this knows when the engine, or ``certain``, gives a row.
"""

from collections import Counter
from copy import deepcopy
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.predicate import Predicate, predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.window import TimeWindow
from dovetail.testing import Advance, Event, Push, Script, play_event, stepwise
from dovetail.testing.history import History, Tuple
from dovetail.testing.interpret import holds
from tests.properties.test_stepwise import DENSE_SCHEMA, HIDING

LAST = 12  # the windows of all rows have closed before it
ANY: dict[str, Any] = {}  # the values of a row that meets every condition
Rows = Counter[tuple[int | None, ...]]


def never_undone(query: JoinQuery, script: Script) -> Rows:
    """The results that no further row undoes."""
    history = History.of(query, script)
    found = results(query, history)
    for name in query.names:
        mark = history.watermarks[name]
        for time in range(-LAST if mark is None else mark, LAST + 1):
            more = deepcopy(history)
            more.tuples[name].append(Tuple(name, (time, query.names.index(name), -1), ANY))
            found &= results(query, more)
    return found


def results(query: JoinQuery, history: History) -> Rows:
    """The numbers of the rows of each result that has no such row in it."""
    with patch.object(stepwise, "holds", _holds):
        made = [each.members for each in stepwise.stepwise_results(query, history)]
    real = [each for each in made if all("n" in row.values for row in each.values())]
    seen = [stream.name for stream in query.seen]
    return Counter(tuple(each[name].values["n"] if name in each else None for name in seen) for each in real)


def _holds(predicate: Predicate, row: Any) -> bool:
    return any(not row[name] for name in predicate_streams(predicate) & row.keys()) or holds(predicate, row)


@st.composite
def small_joins(draw: Any, words: list[str]) -> tuple[dv.Query, Script]:
    """Three or four streams of a few rows; then each comes to any time."""
    names = draw(st.sampled_from(["ABC", "ABC", "ABCD"]))
    how = {name: draw(st.sampled_from(words)) for name in names[1:]}
    if set(how.values()) == {"inner"}:
        how["C"] = "left"
    seen, on = ["A"], []
    for name in names[1:]:
        on.append(f"{draw(st.sampled_from(seen))}.k = {name}.k")
        if len(seen) > 1 and draw(st.booleans()):
            on.append(f"{draw(st.sampled_from(seen))}.n <> {name}.n")
        seen += [name] if how[name] not in HIDING else []
    windows = {name: TimeWindow(draw(st.integers(0, 3))) for name in names}
    late = timedelta(microseconds=LAST)  # the streams come to a time when they are told to
    streams = [dv.stream(name, schema=DENSE_SCHEMA, time="ts", window=windows[name], delay=late) for name in names]
    select = ", ".join(f"{name}.n AS {name.lower()}" for name in seen)
    script: list[Event] = []
    for number in range(draw(st.integers(1, 10))):
        row = {"ts": draw(st.integers(0, 6)), "k": draw(st.integers(0, 1)), "s": None, "n": number}
        script.append(Push.of(draw(st.sampled_from(names)), pa.Table.from_pylist([row], DENSE_SCHEMA)))
    script += [Advance(name, draw(st.integers(0, 10))) for name in names]
    event(" ".join(how.values()))
    return dv.join(*streams, on=" AND ".join(on), how=how, select=select), draw(st.permutations(script))


def given_out(query: dv.Query, script: Script) -> Rows:
    run = query.local()
    rows = pa.concat_tables([play_event(run, each) for each in script]).drop(["result_time"])
    return Counter(tuple(row.values()) for row in rows.to_pylist())


@settings(max_examples=60)
@given(small_joins(["left", "left", "inner", "semi", "anti"]))
def test_exactly_what_nothing_undoes_is_out(drawn: tuple[dv.Query, Script]) -> None:
    query, script = drawn
    assert given_out(query, script) == never_undone(query.model, script)


@settings(max_examples=60)
@given(small_joins(["left", "inner", "full", "right", "anti"]))
def test_of_right_and_full_joins_nothing_that_can_be_undone_is(drawn: tuple[dv.Query, Script]) -> None:
    """Rows that begin a combination come out by times alone; all others at that very moment."""
    query, script = drawn
    out, certain = given_out(query, script), never_undone(query.model, script)
    assert out <= certain
    assert all(row[0] is None for row in certain - out)
