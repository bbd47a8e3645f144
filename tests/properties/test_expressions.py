"""Two readings of one text must agree: conjuncts and the whole, columns and single rows."""

from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.engine.evaluate import evaluate
from dovetail.model.expression import Expression
from dovetail.model.stream import Stream
from dovetail.sql import bind_condition, bind_select
from dovetail.testing import assert_same_rows
from dovetail.testing.interpret import holds, interpret
from tests.properties import rows
from tests.properties.queries import RandomQuery, key_type, queries

TEXTS = (
    "A.i + B.i", "A.i - 2 * B.i", "A.x / B.i", "A.i % B.i", "A.x % B.x", "-A.x", "ABS(A.i - B.i)", "A.x * A.i",
    "A.i < B.i", "A.x = B.x", "A.x <> B.x", "NOT (A.x < B.x)", "A.i = B.i AND A.s = B.s", "A.i = B.i OR A.s = B.s",
    "A.i IS NULL", "A.s IS NOT NULL", "A.x BETWEEN B.x AND 1.5", "A.i IN (1, 2, NULL)", "A.s NOT IN ('a', 'b')",
    "COALESCE(A.i, B.i, 7)", "NULLIF(A.i, B.i)", "GREATEST(A.i, B.i)", "LEAST(A.x, B.x, 0.25)",
    "CASE WHEN A.i > 1 THEN A.s WHEN B.i > 1 THEN B.s END", "CASE A.i WHEN 1 THEN 'one' ELSE 'other' END",
    "LOWER(A.s) || UPPER(B.s)", "LENGTH(A.s)", "TRIM(A.s)", "SUBSTRING(A.s, 1, 1)", "SUBSTRING(A.s, 2)",
    "SUBSTRING(A.s, -1)", "A.s LIKE 'a%'", "A.s LIKE '_b'", "ROUND(A.x)", "FLOOR(A.x)", "CEIL(A.x)", "SQRT(A.x)",
    "EXP(A.x)", "LN(A.x)", "SIGN(A.x)", "POWER(A.x, 2)", "YEAR(A.ts)", "SECOND(A.ts)", "CAST(A.i AS STRING)",
    "CAST(A.x AS BIGINT)", "CAST(A.s AS BIGINT)", "CAST(A.i AS DOUBLE)",
    "INNER_PRODUCT(A.v, B.v)", "COSINE_SIMILARITY(A.v, B.v)", "INNER_PRODUCT(A.v, A.v) > A.x",
)  # fmt: skip

Pair = dict[str, dict[str, object]]


@st.composite
def pairs(draw: st.DrawFn, streams: tuple[Stream, ...], key: pa.DataType) -> list[Pair]:
    """Up to eight combinations of one row per stream."""
    values = st.tuples(st.integers(-5, 10**9), *(rows.values(key, extreme=False) for _ in streams))
    made = []
    for clock, *drawn in draw(st.lists(values, min_size=1, max_size=8)):
        tables = [rows.table([(clock, *row)], stream.schema) for row, stream in zip(drawn, streams, strict=True)]
        made.append({stream.name: table.to_pylist()[0] for stream, table in zip(streams, tables, strict=True)})
    return made


@given(st.data())
def test_conjuncts_together_mean_what_the_whole_condition_means(data: st.DataObject) -> None:
    drawn: RandomQuery = data.draw(queries(most=4))
    condition = bind_condition(drawn.on, drawn.streams, {})
    (whole,) = bind_select(f"{drawn.on} AS met", drawn.streams, {})
    for pair in data.draw(pairs(drawn.streams, key_type(drawn))):
        apart = all(holds(predicate, pair) for predicate in condition.predicates)
        apart = apart and all(interpret(expression, pair) is True for _, expression in condition.filters)
        assert apart == (interpret(whole.expression, pair) is True)


@given(st.data())
def test_columns_and_single_rows_give_the_same_values(data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(list(rows.KEYS)))
    streams = tuple(Stream(name, rows.schema(key), "ts") for name in "AB")
    drawn = data.draw(pairs(streams, key))
    columns = {
        (stream.name, field.name): pa.array([pair[stream.name][field.name] for pair in drawn], field.type)
        for stream in streams
        for field in stream.schema
    }
    for text in data.draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6)):
        (output,) = bind_select(f"{text} AS value", streams, {})
        whole = evaluate(output.expression, columns, len(drawn))
        assert_same_rows(pa.table({text: whole}), pa.table({text: _row_by_row(output.expression, drawn)}))


def _row_by_row(expression: Expression, pairs: list[Pair]) -> pa.Array:
    values = [interpret(expression, pair) for pair in pairs]
    return pa.array(values, expression.type, from_pandas=False)


EXTREMES = st.one_of(st.none(), st.sampled_from([2**63 - 1, -(2**63), -1, 0, 1]), st.integers(-(2**63), 2**63 - 1))
OVERFLOWING = (
    "a + b", "a - b", "a * b", "a % b", "-a", "ABS(a)", "a + b - b", "ABS(a - b) + 1", "d * d", "d + a", "a - d",
    "d % a", "a % d", "d * a % 7", "CAST(d AS BIGINT)", "CAST(a AS INT)", "CAST(d AS DECIMAL(20, 2))", "u - a", "u * u",
    "CAST(u AS BIGINT) + 1", "CASE WHEN a > 0 THEN a * 3 ELSE -a END", "a + 1 IS NULL", "COALESCE(a * b, u % 5)",
)  # fmt: skip


@given(st.lists(st.tuples(EXTREMES, EXTREMES, EXTREMES), min_size=1, max_size=8), st.sampled_from(OVERFLOWING))
def test_overflow_is_the_same_over_columns_and_single_rows(drawn: list[tuple[int | None, ...]], text: str) -> None:
    types = {"a": pa.int64(), "b": pa.int64(), "d": pa.decimal128(38, 6), "u": pa.uint64()}
    table = [
        {"a": a, "b": b, "d": None if c is None else Decimal(c).scaleb(-6), "u": None if b is None else b + 2**63}
        for a, b, c in drawn
    ]
    columns = {("T", name): pa.array([row[name] for row in table], type_) for name, type_ in types.items()}
    schema = pa.schema({"ts": pa.timestamp("us"), **types})
    (output,) = bind_select(f"{text} AS value", [Stream("T", schema, "ts")], {})
    whole = evaluate(output.expression, columns, len(table))
    assert whole.to_pylist() == [interpret(output.expression, {"T": row}) for row in table]
