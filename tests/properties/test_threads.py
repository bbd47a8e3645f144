"""Several threads: the rows of the oracle, whatever the join, the order, the pauses and how often cells change."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import RowWindow
from dovetail.runtime.threads import pays
from dovetail.runtime.threads.cells import Cells
from dovetail.testing import Script, assert_same_rows, oracle, ordered, play_event
from tests.properties.queries import RandomQuery, queries, time_windows
from tests.properties.scripts import scripts
from tests.properties.test_aggregates import AGGREGATES
from tests.properties.test_outer import outer_queries

ORDERS = ["none", "sync", "hold", "adaptive"]
JOINED = ("{names} WHERE {on}", "A LEFT JOIN B ON {on}", "A SEMI JOIN B ON {on}")


@contextmanager
def small_pushes() -> Iterator[None]:
    """Pushes of two rows are large here and so are two results, so that cells come and go."""
    with (
        patch.object(pays, "LARGE_ROWS", 2),
        patch.object(pays, "_FEW_PUSHES", 1),
        patch("dovetail.runtime.threads.together._PIECE_ROWS", 2),
    ):
        yield


@pytest.fixture(autouse=True, scope="module")
def small_pushes_are_shared() -> Iterator[None]:
    with small_pushes():
        yield


def played(query: dv.Query, script: Script, pauses: dict[int, int]) -> pa.Table:
    """Play a script; at each pause, go on from a snapshot with another number of threads."""
    run, results, most = query.local(threads=3), [], 1
    for place, happening in enumerate(script):
        if place in pauses:
            run = query.local(run.snapshot(), threads=pauses[place])
        results.append(play_event(run, happening))
        most = max(most, len(run.operator.cells) if isinstance(run.operator, Cells) else 1)
    event(f"cells: {most}")
    return pa.concat_tables(results)


def check(data: st.DataObject, drawn: RandomQuery, **options: object) -> None:
    rows = checked(data, drawn, drawn.build(**options))
    if options.get("order", "none") != "none":
        assert ordered(rows)


def checked(data: st.DataObject, drawn: RandomQuery, query: dv.Query) -> pa.Table:
    """The rows of a query, which are those of the oracle, over random input and with random pauses."""
    script = data.draw(scripts(drawn, ticks=True))
    pauses = data.draw(st.dictionaries(st.integers(0, len(script) - 1), st.integers(1, 4), max_size=3))
    rows = played(query, script, pauses)
    assert_same_rows(rows, oracle(query.model, script).rows)
    return rows


@given(st.data())
def test_inner_joins(data: st.DataObject) -> None:
    check(data, data.draw(queries()), order=data.draw(st.sampled_from(ORDERS)))


@given(st.data())
def test_outer_semi_and_anti_joins(data: st.DataObject) -> None:
    check(data, data.draw(outer_queries()), order=data.draw(st.sampled_from(ORDERS)))


@given(st.data())
def test_row_windows_per_key(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    per_key = st.builds(RowWindow, st.integers(1, 4), st.just("key"))
    drawn = drawn.with_windows(*(data.draw(per_key | time_windows()) for _ in drawn.streams))
    try:
        drawn.build()
    except dv.DovetailError:
        event("no key")
        return
    check(data, drawn, order=data.draw(st.sampled_from(ORDERS)))


@given(st.data())
def test_aggregates_by_key(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    names, column = [stream.name for stream in drawn.streams], data.draw(st.sampled_from("isxj"))
    on = " AND ".join(f"{one}.{column} = {other}.{column}" for one, other in pairwise(names))
    joined = data.draw(st.sampled_from(JOINED if len(names) == 2 else JOINED[:1]))
    key = f"{data.draw(st.sampled_from(names)) if joined == JOINED[0] else 'A'}.{column}"
    of = "A" if "SEMI" in joined else "B"
    aggregates = ", ".join(data.draw(st.sampled_from(AGGREGATES)).format(a="A", b=of, at=at) for at in range(3))
    more, having = data.draw(st.sampled_from(["", ", A.s"])), data.draw(st.sampled_from(["", "HAVING COUNT(*) > 1"]))
    joined = joined.format(names=", ".join(names), on=on)
    text = f"SELECT {key} AS k{more}, {aggregates} FROM {joined} GROUP BY {key}{more} {having}"
    plan = data.draw(st.sampled_from(["auto", "binary"])) if len(names) > 2 else "auto"
    query = dv.sql(text, *drawn.streams, order=data.draw(st.sampled_from(ORDERS)), plan=plan)
    assert plan == "binary" or "on one thread" not in query.explain()
    assert ordered(checked(data, drawn, query))


@given(st.data())
def test_trees_of_operators(data: st.DataObject) -> None:
    check(data, data.draw(queries(most=4)), plan="binary")
