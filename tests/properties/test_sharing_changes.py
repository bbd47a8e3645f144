"""Queries that come and go while a shared operator runs, with pauses in between.

Who was there from the start gets, push by push, what it gets alone. Who joins later gets the results whose
last-arriving member came after it, all of them from ``complete_from`` on; who leaves stops at once. Rows of one stream
alone and aggregates are as alone or missing, and none is missing from ``complete_from`` on.
"""

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import event, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.plan.share_queries import needs_desk
from dovetail.testing import Close, Push, Script, assert_same_rows, assert_subset, oracle, ordered, play_event
from tests.properties.queries import Draw
from tests.properties.shared_queries import ORDERS, SCHEDULES, rows_of

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64(), "w": pa.float64(), "row": pa.int64()})
CONDITIONS = ["A.v > 1", "B.v <= 2", "A.w IS NOT NULL", "B.w > 0.5", "A.v + 1 > 2"]
SPILLS = dv.budget(memory=dv.tuples(3), policy="spill")
HOWS = ["left", "right", "full", "semi", "anti"]
COLUMNS = ["A.v AS av", "B.w AS bw", "A.w AS aw"]


@dataclass(frozen=True)
class Join:
    """A query joins."""

    query: dv.Query


@dataclass(frozen=True)
class Leave:
    """A query leaves."""

    name: str


@dataclass(frozen=True)
class Pause:
    """The run goes on from a snapshot."""


def query(draw: Draw, name: str, kind: str, on: str, budget: Any) -> dv.Query:
    """Two streams or three, each query with its own windows, conditions, columns and order."""
    streams = [
        dv.stream(each, time="ts", window=window(draw, kind), delay=f"{4 * (each == 'B')} us", schema=SCHEMA)
        for each in ("ABC" if "C." in on else "AB")
    ]
    conditions = [each for each in CONDITIONS if draw(st.integers(0, 4)) == 4]
    how = draw(st.sampled_from(["inner", *HOWS])) if len(streams) == 2 else "inner"
    if kind == "time" and draw(st.integers(0, 3)) == 3:
        return aggregating(draw, streams, " AND ".join([on, *conditions]), how, budget).named(name)
    columns = [each for each in COLUMNS if draw(st.integers(0, 2)) == 2]
    columns = [each for each in columns if how not in ("semi", "anti") or each.startswith("A.")]
    seen = streams[:1] if how in ("semi", "anti") else streams
    numbers = [f"{each.name}.row AS {each.name.lower()}" for each in seen]
    made = dv.join(
        *streams,
        on=" AND ".join([on, *conditions]),
        select=", ".join([*numbers, *columns]),
        order=draw(st.sampled_from(ORDERS)),
        how=how,
        budget=budget,
    )
    return made.named(name)


def aggregating(draw: Draw, streams: list[Any], on: str, how: str, budget: Any) -> dv.Query:
    """How many results, and the largest value, of each key or of all."""
    key = draw(st.sampled_from(["", "A.k", "A.v"]))
    items = [f"{key} AS of_{key[-1:]}"] * bool(key) + ["COUNT(*) AS n", "MAX(A.v) AS most"]
    joined = f" {how.upper()} JOIN ".join(each.name for each in streams) + f" ON {on}"
    if how == "inner":
        joined = f"{', '.join(each.name for each in streams)} WHERE {on}"
    text = f"SELECT {', '.join(items)} FROM {joined}" + (f" GROUP BY {key}" if key else "")
    return dv.sql(text, *streams, order=draw(st.sampled_from(ORDERS)), budget=budget)


def window(draw: Draw, kind: str) -> Any:
    size = draw(st.sampled_from([0, 2, 5, 12, 40]))
    return f"{size} us" if kind == "time" else dv.rows(1 + size // 3, per=kind)  # type: ignore[arg-type]


@st.composite
def pushes(draw: Draw, names: str) -> list[Push]:
    """Rows that lag a little, now and then late, every one with a number of its own."""
    clock = 0
    made: list[Push] = []
    for _ in range(draw(st.integers(4, 24))):
        name = draw(st.sampled_from(names))
        batch: list[dict[str, Any]] = []
        for step, key, value, back in draw(
            st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 3), st.integers(0, 5)), max_size=4)
        ):
            clock += step
            number = len(made) * 10 + len(batch)
            late = max(0, back - 1) if name == "B" else 0
            batch.append({"ts": clock - late, "k": key, "v": value, "w": value / 3 if value else None, "row": number})
        made.append(Push.of(name, pa.Table.from_pylist(batch, SCHEMA)))
    return made


@st.composite
def stories(draw: Draw) -> tuple[list[dv.Query], list[Any]]:
    """Queries at the start, and what happens then."""
    kind = draw(st.sampled_from(["time", "time", "stream", "key"]))
    on = draw(st.sampled_from(["A.k = B.k", "A.k = B.k AND B.k = C.k", "ABS(A.v - B.v) <= 1"]))
    kind = "stream" if kind == "key" and "ABS" in on else kind
    budget = draw(st.sampled_from([None, None, SPILLS])) if kind == "time" else None
    first = [query(draw, f"first {at}", kind, on, budget) for at in range(draw(st.sampled_from([1, 2, 4, 20])))]
    story: list[Any] = []
    there = [str(each.name) for each in first]
    for push in draw(pushes("ABC" if "C." in on else "AB")):
        what = draw(st.integers(0, 9))
        if what == 0:
            story.append(Join(query(draw, f"late {len(story)}", kind, on, budget)))
            there.append(story[-1].query.name)
        elif what == 1 and len(there) > 1:
            story.append(Leave(there.pop(draw(st.integers(0, len(there) - 1)))))
        elif what == 2:
            story.append(Pause())
        story.append(push)
    return first, [*story, Close()]


@given(stories(), st.sampled_from(SCHEDULES))
def test_queries_come_and_go(told: tuple[list[dv.Query], list[Any]], schedule: str) -> None:
    first, story = told
    given, complete = played(first, story, schedule)
    script = [each for each in story if isinstance(each, Push | Close)]
    for each in first:
        check_from_the_start(each, given[each.name], story)
    for at, happening in enumerate(story):
        if isinstance(happening, Join):
            before = sum(isinstance(each, Push) for each in story[:at])
            name = happening.query.name
            gone = Leave(name) in story  # type: ignore[arg-type]
            check_joined(happening.query, given[name], script, before, None if gone else complete[name])


def played(first: list[dv.Query], story: list[Any], schedule: str) -> tuple[dict[Any, list[pa.Table]], dict[Any, Any]]:
    """The rows of each query, push by push, and from when on each is complete."""
    there = {each.name: each for each in first}
    run = dv.share(*first, schedule=schedule).local()
    given: dict[Any, list[pa.Table]] = {each.name: [] for each in first}
    for happening in story:
        if isinstance(happening, Join):
            assert run.add(happening.query) == happening.query.name
            there[happening.query.name] = happening.query
            given[happening.query.name] = []
        elif isinstance(happening, Leave):
            run.remove(happening.name)
            del there[happening.name]
        elif isinstance(happening, Pause):
            run = dv.share(*there.values(), schedule=schedule).local(snapshot=run.snapshot())
        else:
            results = play_event(run, happening)
            assert set(results["query"].to_pylist()) <= there.keys()
            for name, each in there.items():
                given[name].append(rows_of(results, each))
    queries = run.metrics()["queries"]
    assert {name: queries[name]["results"] for name in there} == {
        name: sum(table.num_rows for table in given[name]) for name in there
    }
    return given, {name: each["complete_from"] for name, each in queries.items()}


def check_from_the_start(each: dv.Query, given: list[pa.Table], story: list[Any]) -> None:
    if each.model.budget is not None:  # what was on disk comes out when it is joined
        if len(given) == sum(isinstance(one, Push | Close) for one in story):
            assert_same_rows(pa.concat_tables(given), oracle(each.model, [*filter(_is_input, story)]).rows)
        return
    run = each.local()
    for rows, happening in zip(given, [one for one in story if isinstance(one, Push | Close)], strict=False):
        assert_same_rows(rows, play_event(run, happening))
    assert each.model.order == "none" or not given or ordered(pa.concat_tables(given))


def _is_input(happening: Any) -> bool:
    return isinstance(happening, Push | Close)


def check_joined(each: dv.Query, given: list[pa.Table], script: Script, before: int, complete: int | None) -> None:
    """No row too many; from ``complete`` on, none missing (None: it left again, so only the first half)."""
    if not given:
        return
    rows = pa.concat_tables(given)
    everything = oracle(each.model, script).rows
    assert each.model.order == "none" or ordered(rows)
    if needs_desk(each.model):
        event("aggregates" if each.model.aggregation else each.model.how)
        assert_subset(rows, everything)
        if complete is not None:
            assert_same_rows(later(rows, complete), later(everything, complete))
        return
    earlier = oracle(each.model, [*script[:before], Close()]).rows
    expected = without(everything, earlier)
    assert_subset(rows, expected)
    if complete is not None:
        event("complete at once" if complete <= 0 else "complete later")
        assert_same_rows(later(rows, complete), later(expected, complete))


def without(rows: pa.Table, others: pa.Table) -> pa.Table:
    """Rows that are not among the others; row numbers tell every row from every other."""
    known = {tuple(row.items()) for row in others.to_pylist()}
    return rows.filter(pa.array([tuple(row.items()) not in known for row in rows.to_pylist()], pa.bool_()))


def later(rows: pa.Table, time_us: int) -> pa.Table:
    return rows.filter(pc.greater_equal(rows["result_time"].cast(pa.int64()), time_us))


def test_an_unchanged_union_goes_on_in_place() -> None:
    a, b = (dv.stream(name, time="ts", window="9 us", schema=SCHEMA) for name in "AB")
    wide = dv.join(a, b, on="A.k = B.k", select="A.row AS a").named("wide")
    near = [replace(stream, window=None) for stream in (a, b)]
    narrow = dv.join(*near, on="A.k = B.k", select="A.row AS a", window="2 us").named("narrow")
    run = dv.share(wide).local()
    run.push("A", [{"ts": 1, "k": 1, "row": 0}, {"ts": 8, "k": 1, "row": 1}])
    engine = next(iter(run.operator.statistics())).line
    assert run.add(narrow) == "narrow"
    assert next(iter(run.operator.statistics())).line is engine
    rows = run.push("B", [{"ts": 9, "k": 1, "row": 0}]).to_pylist()
    assert sorted((row["query"], row["a"]) for row in rows) == [("narrow", 1), ("wide", 0), ("wide", 1)]
    assert run.metrics()["queries"]["narrow"]["complete_from"] == 9
