"""Batches of several streams at once, and batches cut into pieces: the rows of the oracle either way."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.combine import candidates
from dovetail.engine.operator.engine import Engine
from dovetail.testing import Push, Script, assert_same_rows, oracle, ordered
from tests.properties.queries import queries
from tests.properties.scripts import scripts
from tests.properties.test_orders import ORDERS
from tests.properties.test_outer import outer_queries
from tests.properties.test_row_windows import row_queries
from tests.recovery.failover import tell
from tests.unit.engine.batches import together

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def check(query: dv.Query, script: Script, block_rows: int | None) -> None:
    engine = Engine(query.plan, block_rows=block_rows)
    rows = pa.concat_tables([tell(engine, event) for event in script])
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


@settings(max_examples=40)
@given(st.data())
def test_any_query_over_batches_of_several_streams(data: st.DataObject) -> None:
    kinds = queries(most=4) | outer_queries(rows=data.draw(st.booleans())) | row_queries(most=3)
    drawn = data.draw(kinds)
    script = data.draw(together(data.draw(scripts(drawn, ticks=True))))
    query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    check(query, script, data.draw(st.sampled_from([None, 1, 2, 5])))


@settings(max_examples=25)
@given(st.data())
def test_pieces_of_any_size_give_the_same_rows(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    script = data.draw(together(data.draw(scripts(drawn))))
    with pytest.MonkeyPatch.context() as patched:
        size = data.draw(st.sampled_from([1, 2, 3, 50]))
        patched.setattr(candidates, "PIECE", size)
        check(drawn.build(), script, None)


def query(window: str = "10 us", **options: Any) -> dv.Query:
    streams = [dv.stream(name, time="ts", window=window, schema=SCHEMA) for name in "AB"]
    return dv.join(*streams, on="A.k = B.k", select="A.ts AS a, B.ts AS b", **options)


def rows(times: list[int], key: int = 1) -> pa.Table:
    return pa.table({"ts": times, "k": [key] * len(times)}, schema=SCHEMA)


def test_the_newest_time_may_be_known_from_elsewhere() -> None:
    engine = Engine(query().plan)
    list(engine.push({"A": rows([1])}, {"A": 50, "B": 40}))
    assert {name: stream["watermark"] for name, stream in engine.metrics()["streams"].items()} == {"A": 50, "B": 40}
    assert engine.metrics()["streams"]["A"]["stored"] == 0
    list(engine.push({"A": rows([49, 50]), "B": rows([50])}, {"A": 50}))
    assert engine.metrics()["streams"]["A"]["late"] == 1
    assert engine.metrics()["results"] == 1


def test_lateness_is_judged_before_the_batch_whatever_its_streams() -> None:
    script = [Push({"A": rows([100, 1]), "B": rows([100, 1])}), Push({"B": rows([99]), "A": rows([100])})]
    engine = Engine(query().plan)
    found = pa.concat_tables([tell(engine, event) for event in script])
    assert_same_rows(found, oracle(query().model, script).rows)
    assert engine.metrics()["streams"]["B"]["late"] == 1


def test_a_large_batch_forgets_while_it_is_joined() -> None:
    engine = Engine(query().plan, block_rows=100)
    most, times = 0, list(range(0, 20_000, 2))
    for _ in engine.push({"A": rows(times), "B": rows(times)}):
        most = max(most, *(stream["stored"] for stream in engine.metrics()["streams"].values()))
    assert most < 300
    assert engine.metrics()["results"] == 5 * 10_000 * 2 + 10_000 - 2 * sum(range(1, 6))


def test_rows_that_do_not_fit_leave_the_other_streams_of_the_batch_untouched() -> None:
    engine = Engine(query().plan)
    with pytest.raises(dv.DataError):
        engine.push({"A": rows([1]), "B": pa.table({"ts": [1]})})
    assert engine.metrics()["streams"]["A"]["rows"] == 0
    list(engine.push({"A": rows([1])}))
    assert len(list(engine.push({"B": rows([1])}))) == 1
