"""Times without an offset beside times with a zone, and texts with a collation."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.evaluate import evaluate
from dovetail.model.collation import as_metadata
from dovetail.model.expression import Expression, Literal
from dovetail.model.stream import Stream
from dovetail.sql import bind_condition, bind_select
from dovetail.testing.interpret import interpret

NEW_YORK = "America/New_York"
SCHEMA = pa.schema(
    {"ts": pa.timestamp("us", NEW_YORK), "n": pa.timestamp("us"), "d": pa.date32(), "u": pa.timestamp("us", "UTC")}
)
NOON = datetime(2026, 7, 1, 12)


def literals(expression: Expression) -> list[object]:
    inside = getattr(expression, "arguments", ())
    own = [expression.value] if isinstance(expression, Literal) else []
    return own + [value for each in inside for value in literals(each)]


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("ts > '2026-07-01 12:00:00'", 16),
        ("ts > TIMESTAMP '2026-07-01 12:00:00'", 16),
        ("ts > '2026-07-01 12:00:00+02:00'", 10),
        ("ts > TIMESTAMP '2026-07-01 12:00:00+02:00'", 10),
        ("ts > TIMESTAMP '2026-07-01 12:00:00Z'", 12),
        ("u > TIMESTAMP '2026-07-01 12:00:00'", 12),
        ("ts > DATE '2026-07-01'", 4),
    ],
)
def test_a_time_without_offset_is_in_the_zone_of_what_it_stands_beside(text: str, hour: int) -> None:
    ((_, bound),) = bind_condition(text, [Stream("T", SCHEMA, "ts")], {}).filters
    assert literals(bound) == [datetime(2026, 7, 1, hour, tzinfo=UTC)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HOUR(ts)", 12),
        ("CAST(ts AS DATE) = DATE '2026-07-01'", True),
        ("ts = n", True),
        ("ts > d", True),
        ("CAST(ts AS TIMESTAMP)", NOON),
        ("u = ts", True),
        ("ts = TIMESTAMP '2026-07-01 12:00:00'", True),
        ("ts - TIMESTAMP '2026-07-01 11:00:00' = INTERVAL '1' HOUR", True),
    ],
)
def test_columns_and_single_rows_agree_about_zones(text: str, expected: object) -> None:
    noon = pa.array([NOON], pa.timestamp("us"))
    instant = pa.array([datetime(2026, 7, 1, 16, tzinfo=UTC)])
    days = noon.cast(pa.date32())
    columns = {
        "ts": instant.cast(SCHEMA.field("ts").type),
        "n": noon,
        "d": days,
        "u": instant.cast(SCHEMA.field("u").type),
    }
    (output,) = bind_select(f"{text} AS answer", [Stream("T", SCHEMA, "ts")], {})
    found = evaluate(output.expression, {("T", name): column for name, column in columns.items()}, 1).to_pylist()
    assert found == [expected]
    assert (
        interpret(output.expression, {"T": {name: column[0].as_py() for name, column in columns.items()}}) == expected
    )


COLLATED = pa.schema(
    [
        pa.field("ts", pa.timestamp("us")),
        pa.field("s", pa.string(), metadata=as_metadata("UTF8_LCASE")),
        ("k", pa.int64()),
    ]
)


def collated(text: str, select: str = "A.s") -> dv.Query:
    a, b = (dv.stream(name, time="ts", window="1 minute", schema=COLLATED) for name in "AB")
    return dv.join(a, b, on=text, select=select)


@pytest.mark.parametrize(
    ("on", "select"),
    [
        ("A.s = B.s", "A.k"),
        ("A.k = B.k AND A.s = 'x'", "A.k"),
        ("A.k = B.k AND A.s LIKE 'x%'", "A.k"),
        ("A.k = B.k AND UPPER(A.s) IN ('X', 'Y')", "A.k"),
        ("A.k = B.k", "MAX(A.s) AS most"),
        ("A.k = B.k", "COUNT(DISTINCT A.s) AS kinds"),
        ("A.k = B.k", "CASE WHEN A.s = 'x' THEN 1 ELSE 2 END AS kind"),
        ("A.k = B.k", "GREATEST(A.s, B.s) AS most"),
    ],
)
def test_a_text_with_a_collation_is_not_compared(on: str, select: str) -> None:
    with pytest.raises(dv.QueryError, match=r"column 'A\.s' has Spark's collation UTF8_LCASE, .* functions\.collate"):
        collated(on, select)


@pytest.mark.parametrize("select", ["A.s", "A.s || '!' AS loud", "COUNT(A.s) AS many", "LENGTH(A.s) AS size"])
def test_a_text_with_a_collation_may_be_passed_on(select: str) -> None:
    assert collated("A.k = B.k AND A.s IS NOT NULL", select).schema.names[0] == "result_time"


def test_no_groups_by_a_text_with_a_collation() -> None:
    a, b = (dv.stream(name, time="ts", window="1 minute", schema=COLLATED) for name in "AB")
    with pytest.raises(dv.QueryError, match="has Spark's collation UTF8_LCASE"):
        dv.sql("SELECT A.s, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.s", a, b)
