"""Outer, semi and anti joins of three streams and more, one after the other, against the oracle and DuckDB."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import TimeWindow
from dovetail.testing import Close, Event, Push, assert_same_rows, oracle, ordered, play, play_event
from tests.properties.queries import (
    ALTERNATIVES,
    BANDS,
    COMPOSITE,
    DERIVED,
    EQUALITIES,
    FILTERS,
    NULL_SAFE,
    OUTPUTS,
    RESIDUALS,
    SIMILARITIES,
    TRIPLES,
    Draw,
    RandomQuery,
    queries,
    time_windows,
)
from tests.properties.scripts import one_by_one, recut, scripts
from tests.properties.test_orders import ORDERS, resumed
from tests.properties.test_threads import played, small_pushes

KEYED = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "n": pa.int64()})
DENSE_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "s": pa.string(), "n": pa.int64()})
DENSE = [
    "{a}.k = {b}.k",
    "{a}.k = {b}.k",
    "{a}.s = {b}.s AND {a}.k = {b}.k",
    "{a}.k = {b}.k AND {a}.n < {b}.n",
    "{a}.k = {b}.k AND {b}.ts >= {a}.ts",
    "{a}.s = {b}.s",
]
ENDLESS = st.builds(dv.unbounded)
WORDS = ["left", "left", "left", "inner", "semi", "anti", "right", "full", "full"]
HIDING = ("semi", "anti")
KINDS = [
    EQUALITIES,
    EQUALITIES,
    EQUALITIES,
    DERIVED,
    NULL_SAFE,
    ALTERNATIVES,
    BANDS,
    COMPOSITE,
    SIMILARITIES,
    RESIDUALS,
]


@dataclass(frozen=True)
class Stepwise(RandomQuery):
    """Words for streams instead of one for all."""

    how: Any = "inner"


@st.composite
def stepwise_queries(draw: Draw, most: int = 4, kinds: Any = KINDS, words: Any = WORDS) -> Stepwise:
    """Each stream is tied to one that is seen before it, and now and then to two."""
    drawn: RandomQuery = draw(queries(most).filter(lambda each: len(each.streams) > 2))
    names = [stream.name for stream in drawn.streams]
    how = {name: draw(st.sampled_from(words)) for name in names[1:]}
    if set(how.values()) == {"inner"}:
        how[names[-1]] = "left"
    seen, made = names[:1], []
    for name in names[1:]:
        other = draw(st.sampled_from(seen))
        first, second = draw(st.permutations([other, name]))
        made.append(draw(st.sampled_from(draw(st.sampled_from(kinds)))).format(a=first, b=second))
        if len(seen) > 1 and draw(st.integers(0, 4)) == 4:
            a, b = draw(st.permutations(seen))[:2]
            made.append(draw(st.sampled_from(TRIPLES)).format(a=a, b=b, c=name))
        if draw(st.integers(0, 5)) == 5:
            made.append(draw(st.sampled_from(FILTERS)).format(a=name))
        if how[name] not in HIDING:
            seen.append(name)
    if draw(st.integers(0, 5)) == 5:
        made.append(draw(st.sampled_from(FILTERS)).format(a=names[0]))
    select = None if draw(st.booleans()) else ", ".join(draw(st.sampled_from(OUTPUTS)).format(a=each) for each in seen)
    windowed = drawn.with_windows(*(draw(time_windows() | time_windows() | ENDLESS) for _ in names))
    event(f"{len(names)} streams, {' '.join(sorted(how.values()))}")
    return Stepwise(windowed.streams, " AND ".join(made), select, how)


@given(st.data())
def test_the_rows_are_the_oracles(data: st.DataObject) -> None:
    drawn = data.draw(stepwise_queries())
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build()
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_they_come_in_order(data: st.DataObject) -> None:
    drawn = data.draw(stepwise_queries())
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    rows = play(query.local(), script)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@given(st.data())
def test_they_depend_neither_on_cuts_nor_on_pauses(data: st.DataObject) -> None:
    drawn = data.draw(stepwise_queries())
    script = data.draw(scripts(drawn, late=False, tied=data.draw(st.booleans())))
    query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    expected = play(query.local(), one_by_one(script))
    assert_same_rows(play(query.local(), data.draw(recut(script))), expected)
    assert_same_rows(resumed(query, script, data.draw(st.integers(0, len(script) - 1))), expected)


def dense(seed: int) -> tuple[Stepwise, list[Event]]:
    """Three or four streams of a few keys: rows with one, with several and without partners are all frequent."""
    random = np.random.default_rng(seed)
    names = "ABCD"[: random.integers(3, 5)]
    how = {name: str(random.choice(WORDS)) for name in names[1:]}
    how[names[random.integers(1, len(names))]] = str(random.choice(["left", "full"]))
    seen, made = ["A"], []
    for name in names[1:]:
        first = seen[random.integers(0, len(seen))]
        made.append(str(random.choice(DENSE)).format(a=first, b=name))
        if random.random() < 0.2:
            made.append(f"{seen[random.integers(0, len(seen))]}.n <> {name}.n")
        if random.random() < 0.2:
            made.append(f"{seen[random.integers(0, len(seen))]}.k = {name}.k")
        seen += [name] if how[name] not in HIDING else []
    made += ["A.n % 4 <> 1"] * (random.random() < 0.2)
    streams = [dv.stream(name, schema=DENSE_SCHEMA, time="ts", delay=timedelta(microseconds=3)) for name in names]
    endless = 0.3 * random.integers(0, 2)
    windows = [
        dv.unbounded() if random.random() < endless else TimeWindow(int(random.choice([0, 2, 4, 7]))) for _ in names
    ]
    select = ", ".join(f"{name}.n AS {name.lower()}" for name in seen)
    query = Stepwise(tuple(streams), " AND ".join(made), select, how).with_windows(*windows)
    events: list[Event] = []
    lags = dict(zip(names, random.integers(0, 12, len(names)) * random.integers(0, 2), strict=True))
    for start in range(0, 24, 2):
        for name in random.permutation(list(names)):
            count = int(random.integers(0, 4))
            rows = [
                {
                    "ts": start - int(lags[name]) + int(random.integers(0, 3)),
                    "k": [0, 1, 2, None][random.choice(4, p=[0.4, 0.3, 0.2, 0.1])],
                    "s": [None, "a", "b"][random.choice(3, p=[0.1, 0.6, 0.3])],
                    "n": 10 * start + place,
                }
                for place in range(count)
            ]
            events.append(Push.of(str(name), pa.Table.from_pylist(rows, DENSE_SCHEMA)))
    return query, [*events, Close()]


@settings(max_examples=60)
@given(st.integers(0, 1_000_000), st.sampled_from(["none", *ORDERS]))
def test_rows_that_have_many_partners(seed: int, order: str) -> None:
    drawn, script = dense(seed)
    query = drawn.build(order=order)
    rows = resumed(query, script, seed % len(script))
    assert order == "none" or ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@settings(max_examples=60)
@given(st.integers(0, 1_000_000))
def test_aggregates_count_rows_without_partners(seed: int) -> None:
    drawn, script = dense(seed)
    conditions = {part: max(re.findall(r"([A-D])\.", part)) for part in drawn.on.split(" AND ")}
    ons = {name: [each for each, last in conditions.items() if last in (name, "A")] for name in drawn.how}
    joins = " ".join(f"{word} JOIN {name} ON {' AND '.join(ons[name])}" for name, word in drawn.how.items())
    counts = ", ".join(f"COUNT({name}.n) AS {name}" for name in "ABCD" if f"{name}.n AS" in str(drawn.select))
    key = ["GROUP BY A.s", "GROUP BY A.k", ""][seed % 3]
    query = dv.sql(f"SELECT COUNT(*) AS results, {counts} FROM A {joins} {key}", *drawn.streams)
    assert_same_rows(resumed(query, script, seed % len(script)), oracle(query.model, script).rows)


@settings(max_examples=60)
@given(st.integers(0, 1_000_000), st.integers(0, 1_000_000), st.booleans())
def test_shared_ones_give_what_each_gives_alone(seed: int, other: int, eager: bool) -> None:
    """With the same words in one operator, whatever they select; beside others over the same streams."""
    drawn, script = dense(seed)
    random = np.random.default_rng(other)
    how = {name: str(random.choice(["left", "inner"])) for name in drawn.how}
    alike = drawn.build(order=str(random.choice(ORDERS))).named("alike")
    few = dv.join(*drawn.streams, on=drawn.on, how=drawn.how, select="A.s AS text").named("few")
    differing = dv.join(*drawn.streams, on=drawn.on, how=how, select="A.n AS number").named("differing")
    shared = dv.share(alike, few, differing)
    assert shared.groups.places[0] == shared.groups.places[1]
    run, parts, pause = shared.local(eager=eager), [], int(random.integers(0, len(script) - 1))
    for at, each in enumerate(script):
        parts.append(play_event(run, each))
        if at == pause:
            parts += [] if eager else [run.work()]
            run = shared.local(snapshot=run.snapshot(), eager=eager)
            run.add(few.named("later"))
    rows = pa.concat_tables(parts)
    for query in (alike, few, differing):
        assert_same_rows(_rows_of(str(query.name), query, rows), oracle(query.model, script).rows)
    known = (_rows_of(name, few, rows).to_pylist() for name in ("later", "few"))
    later, every = (Counter(tuple(row.values()) for row in some) for some in known)
    assert later <= every


def _rows_of(name: str, query: dv.Query, rows: pa.Table) -> pa.Table:
    return rows.filter(pc.equal(rows["query"], name)).select(query.model.schema.names)


@given(st.data())
def test_threads_give_the_same(data: st.DataObject) -> None:
    drawn = data.draw(stepwise_queries(most=3))
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    pauses = data.draw(st.dictionaries(st.integers(0, len(script) - 1), st.integers(1, 4), max_size=3))
    with small_pushes():
        rows = played(query, script, pauses)
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


@given(st.data())
def test_each_on_of_a_text_decides_about_its_stream(data: st.DataObject) -> None:
    """Also conditions that say nothing about the stream whose ON they stand in."""
    drawn = data.draw(stepwise_queries(kinds=[EQUALITIES]))
    names = [stream.name for stream in drawn.streams]
    ons, seen = {}, names[:1]
    for name in names[1:]:
        tie = data.draw(st.sampled_from(EQUALITIES)).format(a=data.draw(st.sampled_from(seen)), b=name)
        more = data.draw(st.sampled_from(FILTERS)).format(a=data.draw(st.sampled_from([*seen, name])))
        ons[name] = f"{tie} AND {more}"
        seen += [name] if drawn.how[name] not in HIDING else []
    joins = [f"{drawn.how[name]} JOIN {name} ON {on}" for name, on in ons.items()]
    query = dv.sql(f"SELECT {names[0]}.i, {names[0]}.ts AS t FROM {names[0]} {' '.join(joins)}", *drawn.streams)
    script = data.draw(scripts(drawn))
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_duckdb_says_the_same(data: st.DataObject) -> None:
    """As SQL joins tables, the windows written out as conditions on the times that are there."""
    words = {name: data.draw(st.sampled_from(["LEFT", "INNER", "SEMI", "ANTI", "RIGHT", "FULL"])) for name in "BC"}
    if set(words.values()) == {"INNER"}:
        words["C"] = "LEFT"
    windows = {name: data.draw(st.sampled_from([0, 2, 5, 9])) for name in "ABC"}
    middle = "B" if words["B"] not in ("SEMI", "ANTI") and data.draw(st.booleans()) else "A"
    ons = {"B": "A.k = B.k", "C": f"{middle}.k = C.k"}
    seen = ["A", *(name for name in "BC" if words[name] not in ("SEMI", "ANTI"))]
    cell = st.tuples(st.integers(0, 12), st.sampled_from([1, 1, 2, None]))
    tables = {
        name: pa.Table.from_pylist(
            [{"ts": ts, "k": k, "n": n} for n, (ts, k) in enumerate(data.draw(st.lists(cell, max_size=6)))], KEYED
        )
        for name in "ABC"
    }
    streams = [dv.stream(name, tables[name], time="ts", window=timedelta(microseconds=windows[name])) for name in "ABC"]
    text = f"FROM A {words['B']} JOIN B ON {ons['B']} {{}} {words['C']} JOIN C ON {ons['C']} {{}}"
    select = "SELECT " + ", ".join(f"{name}.n AS {name.lower()}" for name in seen)
    inside = [_inside([name for name in seen if name < each] + [each], windows) for each in "BC"]
    database = duckdb.connect(config={"threads": 1})
    for name, table in tables.items():
        database.execute(f"CREATE TABLE {name} (t BIGINT, k BIGINT, n BIGINT)")
        rows = [
            (row["ts"], row["k"], row["n"]) for row in table.set_column(0, "ts", table["ts"].cast("int64")).to_pylist()
        ]
        if rows:
            database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    expected = database.execute(f"{select} {text.format(*inside)}").fetchall()
    found = dv.sql(f"{select} {text.format('', '')}", *streams).collect().drop(["result_time"])
    assert Counter(tuple(row.values()) for row in found.to_pylist()) == Counter(expected)


def _inside(names: list[str], windows: dict[str, int]) -> str:
    newest = f"greatest({', '.join(f'{name}.t' for name in names)})"
    return "".join(f" AND coalesce({newest} - {name}.t <= {windows[name]}, TRUE)" for name in names)
