"""Values that would be misread on the way in are refused, with their row and column, in every form of rows."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dovetail as dv

UTC = dt.UTC
NOW = dt.datetime(2026, 3, 1, 12)
SCHEMA = pa.schema(
    {
        "ts": pa.timestamp("us"),
        "k": pa.int64(),
        "x": pa.float64(),
        "d": pa.decimal128(10, 2),
        "s": pa.string(),
        "b": pa.bool_(),
        "v": pa.list_(pa.int64()),
        "n": pa.struct({"i": pa.int64()}),
    }
)
ROW: dict[str, Any] = {"ts": NOW, "k": 1, "x": 1.0, "d": Decimal(1), "s": "a", "b": True, "v": [1], "n": {"i": 1}}
ZONED = pa.schema({"ts": pa.timestamp("us", "UTC"), "k": pa.int64()})


def run(schema: pa.Schema = SCHEMA, **options: Any) -> Any:
    streams = [dv.stream(name, time="ts", window="1 s", schema=schema) for name in "AB"]
    return dv.join(*streams, **{"on": "A.k = B.k", "select": "A.*"} | options).local()


NO_ZONE = "the column has times without a zone; convert it to the zone you mean and take the zone off"
A_ZONE = "the column has times with a zone; say in which zone it is"
NO_UNIT = (
    "a number has no unit; give datetimes, or cast the column, for example with "
    "pyarrow.compute.cast(column, pyarrow.timestamp('ms'))"
)
DICTS: list[tuple[str, Any, str]] = [
    (
        "ts",
        1_772_000_000_000,
        "whole numbers are microseconds since 1970 here, which makes this a day in early 1970, and it looks like "
        "milliseconds; multiply by 1000, or give a datetime",
    ),
    ("ts", 1_772_000_000.5, NO_UNIT),
    ("ts", NOW.replace(tzinfo=UTC), NO_ZONE),
    ("ts", True, "a truth value is not a time; convert it first"),
    ("ts", "yesterday", "Failed to parse string: 'yesterday' as a scalar of type timestamp[us]"),
    (
        "ts",
        "2026-03-01T12:00:00Z",
        "Failed to parse string: '2026-03-01T12:00:00Z' as a scalar of type timestamp[us]: expected no zone offset.",
    ),
    ("k", 1.5, "Float value 1.500000 was truncated converting to int64"),
    ("k", True, "a truth value is not a whole number; convert it first"),
    ("k", Decimal("1.5"), "Rescaling Decimal value would cause data loss"),
    ("k", "x", "Failed to parse string: 'x' as a scalar of type int64"),
    ("x", True, "a truth value is not a float; convert it first"),
    ("d", 1.5, "a float is not exact; round it to a decimal first"),
    ("s", b"a", "bytes are not text; decode them first"),
    ("s", 5, "a whole number is not text; convert it first"),
    ("b", 1, "a whole number is not a truth value; convert it first"),
    ("n", {"i": 1.5}, "Float value 1.500000 was truncated converting to int64"),
    ("k", np.True_, "a truth value is not a whole number; convert it first"),
    ("v", [1.5], "Float value 1.500000 was truncated converting to int64"),
]


@pytest.mark.parametrize(("column", "value", "reason"), DICTS)
def test_a_dict_names_its_row_and_column(column: str, value: Any, reason: str) -> None:
    with pytest.raises(dv.DataError) as caught:
        run().push("A", [ROW, {**ROW, column: value}])
    needed = SCHEMA.field(column).type
    assert str(caught.value) == (
        f"rows[1] pushed to stream 'A': column '{column}' needs {needed}, and got {value!r}: {reason}"
    )


def test_a_time_without_a_zone_among_those_with_one() -> None:
    rows = [{"ts": NOW.replace(tzinfo=UTC), "k": 1}, {"ts": NOW, "k": 1}]
    with pytest.raises(dv.DataError, match=rf"rows\[1\] pushed to stream 'A': column 'ts' .*: {A_ZONE}"):
        run(ZONED).push("A", rows)


@pytest.mark.parametrize("missing", ["ts", "k"])
def test_a_dict_without_its_time_or_key(missing: str) -> None:
    row = {name: value for name, value in ROW.items() if name != missing}
    message = rf"rows\[1\] pushed to stream 'A' has no column '{missing}', which the join needs; .* Write None for"
    with pytest.raises(dv.DataError, match=message):
        run(select="A.k").push("A", [ROW, row])


def test_what_no_condition_tests_may_be_left_out_and_none_is_null() -> None:
    joined = run(select="A.k, A.x")
    joined.push("A", [{"ts": NOW, "k": 1}, {"ts": NOW, "k": None}, {"ts": None, "k": 1}])
    assert joined.metrics()["streams"]["A"]["null_time"] == 1


def test_a_shared_run_knows_what_its_queries_test() -> None:
    streams = [dv.stream(name, time="ts", window="1 s", schema=SCHEMA) for name in "AB"]
    near = dv.join(*streams, on="A.k = B.k", select="A.k").named("near")
    shared = dv.share(near).local()
    shared.push("A", [{"ts": NOW, "k": 1}])
    shared.add(dv.join(*streams, on="A.k = B.k AND A.x > 0", select="A.k").named("far"))
    with pytest.raises(dv.DataError, match=r"rows\[0\] pushed to stream 'A' has no column 'x'"):
        shared.push("A", [{"ts": NOW, "k": 1}])


def test_values_that_mean_the_same_are_taken() -> None:
    joined = run(select="A.ts, A.k, A.x, A.d, A.v")
    rows = [{**ROW, "ts": "2026-03-01 12:00:00", "k": 2.0, "x": 3, "d": "4", "v": [5.0]}, {**ROW, "k": 3}]
    joined.push("A", rows[:1])
    got = joined.push("B", [{**ROW, "k": "2"}]).to_pylist()
    assert [(row["ts"], row["k"], row["x"], row["d"], row["v"]) for row in got] == [(NOW, 2, 3.0, Decimal(4), [5])]


def test_whole_numbers_are_in_the_unit_of_the_column() -> None:
    at = dt.datetime(1970, 1, 1, 0, 0, 3)
    later = 1_772_366_400_000_000
    joined = run(pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()}), select="A.ts")
    joined.push("A", [{"ts": 3_000_000, "k": 1}, {"ts": later, "k": 1}])
    assert joined.push("B", [{"ts": 3_000_000, "k": 1}, {"ts": later, "k": 1}])["ts"].to_pylist() == [at, NOW]


COLUMNS: list[tuple[str, pa.Array, str]] = [
    ("ts", pa.array([1_772_000_000_000]), NO_UNIT),
    ("ts", pa.array([1.5]), NO_UNIT),
    ("ts", pa.array([NOW], pa.timestamp("us", "UTC")), NO_ZONE),
    ("k", pa.array([1.5]), "Float value 1.500000 was truncated converting to int64"),
    ("k", pa.array([True]), "a truth value is not a whole number; convert it first"),
    ("s", pa.array([b"a"]), "bytes are not text; decode them first"),
    ("s", pa.array([5]), "a whole number is not text; convert it first"),
    ("d", pa.array([1.005]), "a float is not exact; round it to a decimal first"),
    ("b", pa.array([1]), "a whole number is not a truth value; convert it first"),
]


@pytest.mark.parametrize("form", [pa.table, lambda table: pl.from_arrow(pa.table(table))])
@pytest.mark.parametrize(("column", "values", "reason"), COLUMNS)
def test_arrow_and_polars_say_the_same(form: Any, column: str, values: pa.Array, reason: str) -> None:
    table = pa.Table.from_pylist([ROW], schema=SCHEMA)
    table = table.set_column(SCHEMA.get_field_index(column), column, values)
    with pytest.raises(dv.DataError, match=rf"column '{column}' pushed to stream 'A' has type .*, and needs") as caught:
        run().push("A", form(table))
    assert str(caught.value).endswith(reason)


def test_times_without_a_zone_in_arrow() -> None:
    with pytest.raises(dv.DataError, match=A_ZONE):
        run(ZONED).push("A", pa.table({"ts": pa.array([NOW], pa.timestamp("us")), "k": [1]}))


@pytest.mark.parametrize(
    "rows",
    [
        [{"ts": "2026-03-01T12:00:00", "k": 1}],
        pa.table({"ts": ["2026-03-01T12:00:00"], "k": [1]}),
        pd.DataFrame({"ts": ["2026-03-01T12:00:00"], "k": [1]}),
        pl.DataFrame({"ts": ["2026-03-01T12:00:00"], "k": [1]}),
    ],
)
def test_text_is_parsed_as_a_time_in_every_form(rows: Any) -> None:
    joined = run(pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()}), select="A.ts")
    joined.push("A", rows)
    assert joined.push("B", [{"ts": NOW, "k": 1}])["ts"].to_pylist() == [NOW]


def test_a_mixed_column_of_pandas() -> None:
    mixed = pd.DataFrame({"ts": [NOW, NOW], "k": [1, "x"]})
    with pytest.raises(dv.DataError, match=r"rows for stream 'A': a DataFrame cannot be read as Arrow: .*column k"):
        run(select="A.k").push("A", mixed)
    with pytest.raises(dv.StreamError, match=r"stream 'A': a DataFrame cannot be read as Arrow: .*column k"):
        dv.stream("A", mixed, time="ts")


def test_a_promise_has_a_zone_if_the_times_have_one() -> None:
    with pytest.raises(dv.DataError, match=A_ZONE):
        run(ZONED).advance("A", NOW)
    with pytest.raises(dv.DataError, match=NO_ZONE):
        run().advance("A", NOW.replace(tzinfo=UTC))
    run(ZONED).advance("A", NOW.replace(tzinfo=UTC))
