"""Evaluation against a database, over random columns with NULL, where both mean the same."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dovetail.engine.evaluate import evaluate
from dovetail.model.stream import Stream
from dovetail.sql import bind_condition, bind_select

ROWS = 500


def _random_table() -> pa.Table:
    random = np.random.default_rng(7)

    def some(values: np.ndarray, type: pa.DataType) -> pa.Array:
        return pa.array(values, mask=random.random(ROWS) < 0.15).cast(type)

    words = np.array(["north", "south", "North", "", "so_th", "s%", "ünïcode"])
    return pa.table(
        {
            "i": some(random.integers(-5, 6, ROWS), pa.int32()),
            "n": some(random.integers(-1000, 1000, ROWS), pa.int64()),
            "x": some(random.integers(-40, 40, ROWS) / 8, pa.float64()),
            "y": some(random.normal(size=ROWS), pa.float64()),
            "s": some(random.choice(words, ROWS), pa.string()),
            "w": some(random.choice(words, ROWS), pa.string()),
            "p": some(random.random(ROWS) < 0.5, pa.bool_()),
            "q": some(random.random(ROWS) < 0.5, pa.bool_()),
            "t": some(random.integers(0, 2**51, ROWS), pa.timestamp("us")),
            "d": some(random.integers(0, 20000, ROWS).astype(np.int32), pa.date32()),
        }
    )


TABLE = _random_table()
STREAM = Stream("T", TABLE.schema, "t")
COLUMNS = {("T", name): TABLE[name].combine_chunks() for name in TABLE.column_names}


def ours(text: str) -> list[object]:
    (output,) = bind_select(f"{text} AS answer", [STREAM], {})
    return list(evaluate(output.expression, COLUMNS, ROWS).to_pylist())


def theirs(text: str) -> list[object]:
    connection = duckdb.connect()
    connection.register("T", TABLE)
    return [value for (value,) in connection.execute(f"SELECT {text} FROM T").fetchall()]


@pytest.mark.parametrize(
    "text",
    [
        "i + n * 2 - 3",
        "n / NULLIF(i, 0)",
        "x / 4",
        "n % NULLIF(i, 0)",
        "MOD(n, 7)",
        "x % 1.5",
        "-n",
        "ABS(n) + ABS(i)",
        "FLOOR(x)",
        "CEIL(x)",
        "ROUND(x)",
        "ROUND(y, 2)",
        "POWER(x, 2)",
        "EXP(x)",
        "SQRT(ABS(x))",
        "LN(ABS(n) + 1)",
        "n > 100 AND x < 0",
        "p AND q",
        "p OR q",
        "NOT p OR q",
        "NOT (p AND q)",
        "p = q",
        "p <> q",
        "(p AND q) IS NULL",
        "p IS TRUE",
        "p IS NOT FALSE",
        "i IS DISTINCT FROM n",
        "i IS NOT DISTINCT FROM 3",
        "i IN (1, 2, 3)",
        "i NOT IN (1, NULL)",
        "x IN (0.125, 1)",
        "s IN ('north', 'south', w)",
        "n BETWEEN -10 AND i",
        "n NOT BETWEEN -10 AND 10",
        "s = w",
        "s < w",
        "s || w",
        "LOWER(s) = LOWER(w)",
        "UPPER(s)",
        "LENGTH(s)",
        "SUBSTRING(s, 2, 3)",
        "SUBSTRING(s, -3)",
        "SUBSTRING(s, -4, 2)",
        "s LIKE 's%'",
        "s LIKE '%o_th'",
        "s NOT ILIKE 'N%'",
        "COALESCE(i, n, 0)",
        "NULLIF(s, 'north')",
        "GREATEST(i, n)",
        "LEAST(x, y)",
        "GREATEST(s, w)",
        "GREATEST(t, TIMESTAMP '1990-01-01')",
        "CASE WHEN i > 0 THEN s WHEN i < 0 THEN w END",
        "CASE i WHEN 1 THEN 10 WHEN 2 THEN 20 ELSE n END",
        "CAST(n AS VARCHAR)",
        "CAST(s AS VARCHAR) || CAST(i AS VARCHAR)",
        "CAST(n AS DOUBLE) / 3",
        "CAST(p AS INTEGER)",
        "TRY_CAST(s AS BIGINT)",
        "YEAR(t) * 10000 + MONTH(t) * 100 + DAY(t)",
        "HOUR(t) * 10000 + MINUTE(t) * 100 + SECOND(t)",
        "EXTRACT(YEAR FROM d)",
        "t > '1990-06-01 12:00:00'",
        "d < '1990-06-01'",
        "d < t",
        "t + INTERVAL '90' MINUTE",
        "t - TIMESTAMP '2000-01-01 00:00:00' > INTERVAL '10' DAY",
        "EPOCH_US(t)",
        "CAST(t AS DATE)",
        "x > y",
        "i = x",
    ],
)
def test_same_as_the_database(text: str) -> None:
    expected = theirs(text)
    found = ours(text)
    if any(isinstance(value, float) for value in expected):
        assert np.allclose(np.array(found, float), np.array(expected, float), rtol=1e-14, atol=0, equal_nan=True)
    else:
        assert found == expected


@pytest.mark.parametrize("text", ["i > 0 AND NOT (s = w OR x > y)", "NOT (n BETWEEN 0 AND 9) AND (p OR q)"])
def test_filters_keep_what_the_database_keeps(text: str) -> None:
    kept = np.ones(ROWS, bool)
    for _, expression in bind_condition(text, [STREAM], {}).filters:
        kept &= evaluate(expression, COLUMNS, ROWS).fill_null(False).to_numpy(zero_copy_only=False)
    assert kept.tolist() == [value is True for value in theirs(text)]
