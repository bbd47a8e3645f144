"""Sorting conjuncts into equalities, bands and filters never changes what a condition means.

The condition as one expression, evaluated over all pairs of rows, must agree with its classified parts, each decided by
the row-by-row interpreter, which shares no code with the engine.
"""

from datetime import datetime, timedelta
from itertools import product

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.engine.evaluate import evaluate
from dovetail.errors import QueryError
from dovetail.model.stream import Stream
from dovetail.sql import bind_condition, bind_select
from dovetail.testing.interpret import holds, interpret

TYPES = {
    "n": pa.int64(),
    "m": pa.int32(),
    "u": pa.uint64(),
    "x": pa.float64(),
    "f": pa.float32(),
    "t": pa.timestamp("us"),
    "d": pa.date32(),
    "p": pa.decimal128(8, 2),
    "s": pa.string(),
    "b": pa.bool_(),
}
START = datetime(2026, 1, 1)
ROWS = [
    {"n": 0, "m": 3, "u": 0, "x": 0.1, "f": 0.5, "t": START, "d": START.date(), "p": 1, "s": "a", "b": True},
    {"n": 3, "m": 0, "u": 2**64 - 1, "x": 0.3, "f": -1.25, "t": START + timedelta(seconds=1), "p": 2, "s": "b"},
    {"n": -2, "m": None, "x": float("nan"), "t": START - timedelta(seconds=2), "d": START.date(), "b": False},
    {"n": 5, "m": -2, "u": 3, "x": float("inf"), "f": 0.75, "s": "", "b": False},
    {},
]
TABLE = pa.Table.from_pylist(ROWS, pa.schema(TYPES))
STREAMS = (Stream("A", TABLE.schema, "t"), Stream("B", TABLE.schema, "t"))
PAIRS = list(product(range(len(ROWS)), repeat=2))
COLUMNS = {
    (stream, name): TABLE[name].combine_chunks().take([pair[at] for pair in PAIRS])
    for at, stream in enumerate("AB")
    for name in TYPES
}
VALUES = TABLE.to_pylist()

NUMBERS = st.sampled_from("A.n B.n A.m B.m A.x B.x A.f B.f A.u B.u A.p B.p 0 1 2 -1 0.2 1.5 0.75".split())
SUMS = st.one_of(
    NUMBERS,
    st.tuples(NUMBERS, st.sampled_from("+-"), NUMBERS).map(" ".join),
    st.tuples(NUMBERS, NUMBERS).map(lambda pair: f"ABS({pair[0]} - {pair[1]})"),
)
INSTANTS = st.sampled_from(
    ["A.t", "B.t", "A.d", "B.d", "'2026-01-01'", "A.t + INTERVAL '1' SECOND", "B.t - INTERVAL '2' SECOND"]
)
SPANS = st.sampled_from(
    ["A.t - B.t", "B.t - A.t", "ABS(A.t - B.t)", "INTERVAL '1' SECOND", "INTERVAL '0' SECOND", "B.d - A.t"]
)
OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])


def _compared(side: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    simple = st.tuples(side, OPERATORS, side).map(" ".join)
    between = st.tuples(side, side, side).map(lambda parts: "({} BETWEEN {} AND {})".format(*parts))
    return st.one_of(simple, simple, between)


ATOMS = st.one_of(
    *(_compared(side) for side in (SUMS, SUMS, INSTANTS, SPANS)),
    st.sampled_from(["A.s = B.s", "A.s < B.s", "A.b", "B.b = A.b", "A.n IS NULL", "B.n IN (0, 3)", "TRUE"]),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" AND ", " AND ", " OR "]), inner).map(lambda parts: f"({''.join(parts)})"),
        inner.map(lambda text: f"(NOT {text})"),
    ),
    max_leaves=5,
)


def as_parts(text: str) -> list[bool]:
    """For every pair, whether all classified parts hold."""
    condition = bind_condition(text, STREAMS, {})
    answers = []
    for left, right in PAIRS:
        row = {"A": VALUES[left], "B": VALUES[right]}
        kept = all(interpret(expression, row) is True for _, expression in condition.filters)
        answers.append(kept and all(holds(predicate, row) for predicate in condition.predicates))
    return answers


def as_one(text: str) -> list[bool]:
    """For every pair, whether the condition as one expression is true."""
    (output,) = bind_select(f"{text} AS answer", STREAMS, {})
    return list(evaluate(output.expression, COLUMNS, len(PAIRS)).fill_null(False).to_pylist())


@settings(max_examples=400, deadline=None)
@given(CONDITIONS)
def test_parts_mean_what_the_whole_means(text: str) -> None:
    try:
        expected = as_one(text)
    except QueryError:
        return
    assert as_parts(text) == expected
