"""Fields of structures as columns: in conditions, filters, times and results, the same as columns of their own."""

import re
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.stream import Stream
from dovetail.testing import Close, Push, Script, assert_same_rows, oracle, play
from tests.properties.queries import Draw, RandomQuery, queries
from tests.properties.scripts import scripts
from tests.properties.test_asof import asof_queries
from tests.properties.test_intervals import interval_queries
from tests.properties.test_orders import resumed
from tests.properties.test_outer import outer_queries

PATHS = {"ts": "t.ts", "i": "p.i", "s": "p.s", "x": "q.r.x", "v": "q.r.v", "j": "q.r.j"}


def folded(rows: pa.Table) -> pa.Table:
    """The rows with all columns inside of structures: p.i, p.s, q.r.x ...; time in t.ts."""
    outer = pa.StructArray.from_arrays([rows[name].combine_chunks() for name in ("i", "s")], ["i", "s"])
    deep = pa.StructArray.from_arrays([rows[name].combine_chunks() for name in ("x", "v", "j")], ["x", "v", "j"])
    times = pa.StructArray.from_arrays([rows["ts"].combine_chunks()], ["ts"])
    return pa.table({"t": times, "p": outer, "q": pa.StructArray.from_arrays([deep], ["r"])})


def nested(drawn: RandomQuery) -> RandomQuery:
    """The same query over such rows."""
    streams = tuple(
        Stream(s.name, folded(s.schema.empty_table()).schema, "t.ts", s.window, s.delay_us, asof=s.asof)
        for s in drawn.streams
    )
    on, select = (re.sub(r"\b([A-F])\.(ts|[isxvj])\b", _inside, text) for text in (drawn.on, drawn.select or ""))
    return replace(drawn, streams=streams, on=on, select=select)


def _inside(found: re.Match[str]) -> str:
    return f"{found[1]}.{PATHS[found[2]]}"


@st.composite
def cases(draw: Draw) -> tuple[RandomQuery, Script, Script]:
    drawn: RandomQuery = draw(queries(most=3) | outer_queries() | interval_queries(most=3))
    if drawn.select is None:
        drawn = replace(drawn, select=", ".join(f"{s.name}.i AS {s.name}i" for s in drawn.streams))
    script = draw(scripts(drawn))
    inside = [
        Push({name: folded(rows) for name, rows in event.batch.items()}) if isinstance(event, Push) else event
        for event in script
    ]
    return drawn, script, inside


@given(cases(), st.data())
def test_fields_are_columns(case: tuple[RandomQuery, Script, Script], data: st.DataObject) -> None:
    drawn, script, inside = case
    query: Any = nested(drawn).build()
    found = resumed(query, inside, data.draw(st.integers(0, len(script) - 1)))
    assert_same_rows(found, oracle(query.model, inside).rows)
    assert_same_rows(found, oracle(drawn.build().model, script).rows)


@given(st.data())
def test_the_best_row_may_be_chosen_by_fields(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries())
    script = data.draw(scripts(drawn))
    inside = [
        Push({name: folded(rows) for name, rows in event.batch.items()}) if isinstance(event, Push) else event
        for event in script
    ]
    query: Any = nested(drawn).build(select=f"{drawn.streams[0].name}.p.i AS one, {drawn.streams[1].name}.p.i AS other")
    found = resumed(query, inside, data.draw(st.integers(0, len(script) - 1)))
    assert_same_rows(found, oracle(query.model, inside).rows)


def test_shared_queries_may_name_other_fields() -> None:
    rows = [{"ts": at, "p": None if at % 5 == 0 else {"id": at % 4, "x": at / 2, "y": str(at)}} for at in range(30)]
    inside = pa.struct({"id": pa.int64(), "x": pa.float64(), "y": pa.string()})
    schema = pa.schema({"ts": pa.timestamp("us"), "p": inside})
    a, b = (dv.stream(name, time="ts", schema=schema, delay="1 second") for name in "AB")
    near = dv.join(a, b, on="A.p.id = B.p.id", select="A.p.x AS x", window="2 us").named("near")
    far = dv.join(a, b, on="A.p.id = B.p.id AND A.p.y > '1'", select="B.p.y AS y", window="9 us").named("far")
    shared = dv.share(near, far)
    assert len(shared.plans) == 1
    script: Script = [Push.of(name, pa.Table.from_pylist(rows, schema)) for name in "AB"]
    found = play(shared.local(), [*script, Close()])
    for query in (near, far):
        own = found.filter(pc.equal(found["query"], query.name)).select(query.schema.names)
        assert_same_rows(own, oracle(query.model, script).rows)


def test_a_row_with_structures_is_looked_for() -> None:
    schema = pa.schema({"t": pa.struct({"ts": pa.timestamp("us")}), "p": pa.struct({"id": pa.int64()})})
    a, b = (dv.stream(name, time="t.ts", schema=schema, window="1 minute") for name in "AB")
    run = dv.join(a, b, on="A.p.id = B.p.id", select="A.p").local()
    row = {"t": {"ts": 1_000_000}, "p": {"id": 7}}
    run.push("A", [row])
    assert run.why("A", row).reason == "no partner"
    assert run.why("A", {"t": {"ts": 1_000_000}, "p": {"id": 8}}).reason == "unknown"
