"""What a condition means is what Spark itself takes it for, in a session of another zone and at the ends of types."""

from collections.abc import Iterator
from typing import Any

import pytest

import dovetail as dv

ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def new_york(spark: Any) -> Iterator[Any]:
    before = spark.conf.get(ZONE)
    spark.conf.set(ZONE, "America/New_York")
    yield spark
    spark.conf.set(ZONE, before)


def rows(session: Any) -> Any:
    """One row for each hour of a day, with the same moment with and without a zone, and a number."""
    instant = "TIMESTAMP '2026-07-01 00:30:00' + make_interval(0, 0, 0, 0, id, 0, 0)"
    wall = "TIMESTAMP_NTZ '2026-07-01 00:30:00' + make_interval(0, 0, 0, 0, id, 0, 0)"
    number = "CASE id WHEN 0 THEN 9223372036854775807L WHEN 1 THEN -9223372036854775808L ELSE id END"
    return session.range(24).selectExpr(f"{instant} AS ts", f"{wall} AS n", f"{number} AS k", "id % 2 = 0 AS b", "id")


def ids(frame: Any, column: str) -> list[int]:
    return sorted(row[column] for row in frame.collect())


@pytest.mark.parametrize(
    "text",
    [
        "A.ts < TIMESTAMP '2026-07-01 06:00:00'",
        "A.ts < '2026-07-01 06:00:00'",
        "A.ts < TIMESTAMP '2026-07-01 06:00:00+02:00'",
        "A.ts >= DATE '2026-07-01'",
        "HOUR(A.ts) = 5",
        "DATE_TRUNC('day', A.ts) = TIMESTAMP '2026-07-01 00:00:00'",
        "CAST(A.ts AS DATE) = DATE '2026-07-01'",
        "A.ts = A.n",
        "A.b <> (A.k = 3) IS NOT NULL",
    ],
)
def test_conditions_on_times_in_the_zone_of_the_session(new_york: Any, text: str) -> None:
    frame = rows(new_york)
    streams = [dv.stream(name, frame, time="ts", window="0 seconds") for name in "AB"]
    found = dv.join(*streams, on=f"A.id = B.id AND {text}", select="A.id").spark(new_york)
    assert ids(found, "id") == ids(frame.alias("A").where(text), "id")


def test_times_come_out_as_they_came_in(new_york: Any) -> None:
    frame = rows(new_york)
    streams = [dv.stream(name, frame, time="ts", window="0 seconds") for name in "AB"]
    found = dv.join(*streams, on="A.id = B.id", select="A.ts, A.id").spark(new_york)
    expected = {row.id: (row.ts, row.ts) for row in frame.collect()}
    assert {row.id: (row.ts, row.result_time) for row in found.collect()} == expected


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ("A.k + 1 = B.k", "try_add(A.k, 1) = B.k"),
        ("A.k - 1 = B.k", "try_subtract(A.k, 1) = B.k"),
        ("A.k * 2 = B.k", "try_multiply(A.k, 2) = B.k"),
        ("A.id = B.id AND A.k + 1 > 0", "A.id = B.id AND try_add(A.k, 1) > 0"),
    ],
)
def test_overflow_is_what_the_functions_that_try_give(spark: Any, text: str, tried: str) -> None:
    frame = rows(spark)
    streams = [dv.stream(name, frame, time="ts", window="1 day") for name in "AB"]
    found = dv.join(*streams, on=text, select="A.id").spark(spark)
    assert ids(found, "id") == ids(frame.alias("A").crossJoin(frame.alias("B")).where(tried).select("A.id"), "id")


def test_a_collated_key_is_refused_and_a_plain_one_is_not(spark: Any) -> None:
    frame = spark.sql("SELECT TIMESTAMP '2026-07-01 00:00:00Z' AS ts, 'Attic' COLLATE UTF8_LCASE AS s")
    streams = [dv.stream(name, frame, time="ts", window="1 day") for name in "AB"]
    with pytest.raises(dv.QueryError, match=r"column 'A\.s' has Spark's collation UTF8_LCASE"):
        dv.join(*streams, on="A.s = B.s")
    assert dv.join(*streams, on="A.ts = B.ts", select="A.s").spark(spark).collect()[0].s == "Attic"
    plain = frame.selectExpr("ts", "collate(s, 'UTF8_BINARY') AS s")
    cast = [dv.stream(name, plain, time="ts", window="1 day") for name in "AB"]
    assert dv.join(*cast, on="A.s = B.s", select="A.s").spark(spark).count() == 1
