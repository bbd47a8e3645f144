"""Evaluation against a database, over random columns with NULL, where both mean the same."""

import re
from decimal import Decimal

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
        "p <> q IS NOT NULL",
        "p = q IS NULL",
        "i < n IS NOT TRUE",
        "p IS NULL = q",
        "p = q IS DISTINCT FROM p",
        "p IS DISTINCT FROM q = p",
        "p IS DISTINCT FROM q IS NULL",
        "NOT p IS NULL",
        "NOT p = q IS NULL",
        "NOT i IN (1, 2) AND p",
        "i IN (1, NULL) IS NULL",
        "NOT i BETWEEN 1 AND 2 OR q",
        "-i % 3",
        "- i * n - -i",
        "n % 7 * i % 3",
        "s || w LIKE 'n%'",
        "s || w = 'northsouth'",
        "i + n BETWEEN i * 2 AND n - 1",
    ],
)
def test_same_as_the_database(text: str) -> None:
    expected = theirs(text)
    found = ours(text)
    if any(isinstance(value, float) for value in expected):
        assert np.allclose(np.array(found, float), np.array(expected, float), rtol=1e-14, atol=0, equal_nan=True)
    else:
        assert found == expected


def _extreme_table() -> pa.Table:
    random = np.random.default_rng(11)
    edges = np.array([2**63 - 1, -(2**63), -(2**63) + 1, 2**62, -(2**62), 2**32, -1, 0, 1, 3], np.int64)
    numbers = np.where(
        random.random((2, ROWS)) < 0.7, random.choice(edges, (2, ROWS)), random.integers(-9, 9, (2, ROWS))
    )
    digits = [Decimal(int(value)).scaleb(-3) for value in random.integers(-(10**17), 10**17, ROWS)]
    mask = random.random(ROWS) < 0.1
    columns = {
        "a": pa.array(numbers[0], mask=mask),
        "b": pa.array(numbers[1]),
        "e": pa.array(digits, pa.decimal128(18, 3)),
    }
    return pa.table(columns | {"t": pa.array(np.arange(ROWS), pa.timestamp("us"))})


EXTREME = _extreme_table()


def _sums(random: np.random.Generator, depth: int) -> str:
    """A random text of sums, products, signs and sizes."""
    kind = random.integers(0, 6) if depth else 0
    if kind == 0:
        return str(random.choice(["a", "b", "1", "2", "3000000000"]))
    if kind == 1:
        return f"(-{_sums(random, depth - 1)})"
    if kind == 2:
        return f"ABS({_sums(random, depth - 1)})"
    return f"({_sums(random, depth - 1)} {random.choice(['+', '-', '*'])} {_sums(random, depth - 1)})"


@pytest.mark.parametrize("text", sorted({_sums(np.random.default_rng(seed), 3) for seed in range(120)}))
def test_overflow_is_null_where_the_database_has_an_error(text: str) -> None:
    """A step that overflows makes the whole NULL, and so does the error that TRY turns into NULL."""
    if text in ("1", "2", "3000000000") or not {"a", "b"} & set(text.replace("ABS", "")):
        return
    connection = duckdb.connect()
    connection.execute("PRAGMA disable_optimizer")  # it would add constants together, and take steps out of TRY
    connection.register("T", EXTREME)
    wide = re.sub(r"\b([123]0*)\b", r"CAST(\1 AS BIGINT)", text)
    expected = [value for (value,) in connection.execute(f"SELECT TRY({wide}) FROM T").fetchall()]
    (output,) = bind_select(f"{text} AS answer", [Stream("T", EXTREME.schema, "t")], {})
    columns = {("T", name): EXTREME[name].combine_chunks() for name in EXTREME.column_names}
    assert evaluate(output.expression, columns, ROWS).to_pylist() == expected


@pytest.mark.parametrize("text", ["e % 7", "b % e", "e % CAST(2.75 AS DECIMAL(3, 2))", "e * e", "e + b", "e - b"])
def test_decimals_are_those_of_the_database(text: str) -> None:
    connection = duckdb.connect()
    connection.register("T", EXTREME)
    exact = f"TRY({text.replace('b', 'CAST(b AS DECIMAL(22, 3))').replace('e ', 'CAST(e AS DECIMAL(22, 3)) ')})"
    expected = [value for (value,) in connection.execute(f"SELECT {exact} FROM T").fetchall()]
    (output,) = bind_select(f"{text} AS answer", [Stream("T", EXTREME.schema, "t")], {})
    columns = {("T", name): EXTREME[name].combine_chunks() for name in EXTREME.column_names}
    assert evaluate(output.expression, columns, ROWS).to_pylist() == expected


@pytest.mark.parametrize("text", ["i > 0 AND NOT (s = w OR x > y)", "NOT (n BETWEEN 0 AND 9) AND (p OR q)"])
def test_filters_keep_what_the_database_keeps(text: str) -> None:
    kept = np.ones(ROWS, bool)
    for _, expression in bind_condition(text, [STREAM], {}).filters:
        kept &= evaluate(expression, COLUMNS, ROWS).fill_null(False).to_numpy(zero_copy_only=False)
    assert kept.tolist() == [value is True for value in theirs(text)]
