"""Columns that cannot be NULL are known as such, and no others."""

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.model.never_null import noted_schema

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64(), "v": pa.float64()})
SELECT = "A.ts AS a_ts, A.k AS a_k, A.x AS a_x, A.v AS a_v, B.ts AS b_ts, B.k + 1 AS b_k, B.x AS b_x"


def sure(on: str, how: str = "inner", select: str = SELECT) -> set[str]:
    streams = [dv.stream(name, schema=SCHEMA, time="ts", window="1 second") for name in "AB"]
    query = dv.join(*streams, on=on, how=how, select=select).model
    return {field.name for field in noted_schema(query) if not field.nullable}


def test_times_and_what_is_compared() -> None:
    assert sure("A.k = B.k") == {"result_time", "a_ts", "b_ts", "a_k"}
    assert sure("ABS(A.x - B.x) <= 1") == {"result_time", "a_ts", "b_ts", "a_x", "b_x"}
    assert sure("A.v + B.v > 3") == {"result_time", "a_ts", "b_ts"}


@pytest.mark.parametrize(("how", "times"), [("left", {"a_ts"}), ("right", {"b_ts"}), ("full", set())])
def test_where_a_member_may_be_missing(how: str, times: set[str]) -> None:
    assert sure("A.k = B.k", how) == {"result_time"} | times


@pytest.mark.parametrize(
    ("how", "times"),
    [
        ({"C": "right"}, {"c_ts"}),
        ({"B": "full"}, {"c_ts"}),
        ({"B": "right", "C": "left"}, {"b_ts"}),
        ({"C": "full"}, set()),
    ],
)
def test_where_rows_of_later_streams_are_kept(how: dict[str, str], times: set[str]) -> None:
    streams = [dv.stream(name, schema=SCHEMA, time="ts", window="1 second") for name in "ABC"]
    select = ", ".join(f"{name}.ts AS {name.lower()}_ts" for name in "ABC")
    schema = noted_schema(dv.join(*streams, on="A.k = B.k AND B.k = C.k", how=how, select=select).model)
    assert {field.name for field in schema if not field.nullable} == {"result_time"} | times


def test_joins_that_give_one_stream() -> None:
    own = "A.ts AS a_ts, A.k AS a_k"
    assert sure("A.k = B.k", "semi", own) == {"result_time", "a_ts", "a_k"}
    assert sure("A.k = B.k", "anti", own) == {"result_time", "a_ts"}


def test_aggregates_may_all_be_null() -> None:
    streams = [dv.stream(name, schema=SCHEMA, time="ts", window="1 second") for name in "AB"]
    query = dv.sql("SELECT A.k, SUM(B.v) AS total FROM A JOIN B ON A.k = B.k GROUP BY A.k", *streams).model
    assert [field.nullable for field in noted_schema(query)] == [False, True, True]
