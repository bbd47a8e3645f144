"""DATE_TRUNC against DuckDB and the interpreter, with zones and without."""

from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.evaluate import evaluate
from dovetail.model.duration import PERIODS_US
from dovetail.sql import bind_condition
from dovetail.testing.interpret import interpret

MOMENTS = [
    datetime(2026, 7, 1, 12, 34, 56, 789123),
    datetime(2024, 2, 29, 23, 59, 59, 999999),
    datetime(1969, 12, 31, 23, 0, 0, 1),
    datetime(2026, 10, 25, 0, 30),  # in Berlin clocks are put back an hour later
    datetime(2026, 10, 25, 1, 30),
    None,
]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("unit", PERIODS_US)
def test_periods_begin_where_duckdb_has_them(unit: str, zone: str | None) -> None:
    times = pa.array([moment and moment.replace(tzinfo=UTC if zone else None) for moment in MOMENTS],
                     pa.timestamp("us", zone))  # fmt: skip
    rows = pa.table({"ts": times})
    stream = dv.stream("A", rows, time="ts")
    predicate = bind_condition(f"DATE_TRUNC('{unit.upper()}', A.ts) = B.ts", [stream, _as(stream, "B")], {}).predicates[
        0
    ]
    side: Any = predicate.left  # type: ignore[union-attr]
    found = evaluate(side, {("A", "ts"): times}, len(times)).to_pylist()
    assert found == [interpret(side, {"A": row}) for row in rows.to_pylist()]
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone or 'UTC'}'")
        expected = connection.sql(f"SELECT date_trunc('{unit}', ts) AS t FROM rows").to_arrow_table()["t"]
    if zone != "Europe/Berlin":
        assert found == expected.cast(times.type).to_pylist()


def _as(stream: Any, name: str) -> Any:
    return dv.stream(name, stream.data, time="ts")


def test_clocks_that_are_put_back_make_a_day_longer() -> None:
    """Rows 24.5 hours apart are of one day in Berlin, and meet without a window."""
    day = [datetime(2026, 10, 24, 22, 5, tzinfo=UTC), datetime(2026, 10, 25, 22, 35, tzinfo=UTC)]
    schema = pa.schema({"ts": pa.timestamp("us", "Europe/Berlin")})
    a, b = (dv.stream(name, time="ts", schema=schema) for name in "AB")
    run = dv.join(a, b, on="DATE_TRUNC('day', A.ts) = DATE_TRUNC('day', B.ts)").local()
    run.push("A", [{"ts": day[0]}])
    assert run.push("B", [{"ts": day[1]}]).num_rows == 1
