"""Fields of structures as columns: in conditions, filters, times and results, the same as columns of their own."""

import re
from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.model.stream import Stream
from dovetail.testing import Push, Script, assert_same_rows, oracle
from tests.properties.queries import Draw, RandomQuery, queries
from tests.properties.scripts import scripts
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
        Stream(s.name, folded(s.schema.empty_table()).schema, "t.ts", s.window, s.delay_us) for s in drawn.streams
    )
    on, select = (re.sub(r"\b([A-F])\.(ts|[isxvj])\b", _inside, text) for text in (drawn.on, drawn.select or ""))
    return replace(drawn, streams=streams, on=on, select=select)


def _inside(found: re.Match[str]) -> str:
    return f"{found[1]}.{PATHS[found[2]]}"


@st.composite
def cases(draw: Draw) -> tuple[RandomQuery, Script, Script]:
    drawn: RandomQuery = draw(queries(most=3) | outer_queries())
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
