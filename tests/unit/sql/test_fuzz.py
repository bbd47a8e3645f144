"""Whatever the text, the answer is a result or a QueryError, and a result can be evaluated."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dovetail.engine.evaluate import evaluate
from dovetail.errors import QueryError
from dovetail.model.expression import Column
from dovetail.sql import bind_condition, bind_select
from dovetail.sql.types import plain_type
from tests.unit.sql.streams import STREAMS

SAMPLES: dict[str, list[object]] = {
    "location": ["a", "", None],
    "value": [2.5, float("nan"), None],
    "n": [-(2**63), 7, None],
    "small": [-1, 2**31 - 1, None],
    "u": [2**64 - 1, 0, None],
    "single": [0.1, float("inf"), None],
    "ts": [datetime(2026, 1, 1), datetime(1900, 5, 5), None],
    "day": [date(2026, 1, 1), date(1, 1, 1), None],
    "ok": [True, False, None],
    "v": [[1.0, 2.0], [], None],
    "price": [Decimal("99999999.99"), Decimal("-0.01"), None],
    "code": ["a", "b", None],
    "odd name": [0, 1, None],
    "only": [1, -1, None],
    "tz": [datetime(2026, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC), None],
}
COLUMNS = {
    (stream.name, field.name): pa.array(SAMPLES[field.name], plain_type(field.type)).cast(field.type)
    for stream in STREAMS
    for field in stream.schema
}
WORDS = st.sampled_from(
    """T.n H.n K.n T.value H.value T.small T.u H.u T.single T.ts H.ts H.tz T.day H.day T.ok H.ok T.v H.v T.price
    T.location H.location T.code T."odd name" only n 1 2.5 -3 0 'a' 'x%' '2026-01-01' NULL TRUE FALSE ( ) ( ) , AND OR
    NOT = <> < <= > >= + - * / % || IN BETWEEN LIKE IS CASE WHEN THEN ELSE END ABS( SQRT( ROUND( COALESCE( NULLIF(
    GREATEST( LOWER( LENGTH( SUBSTRING( MOD( POWER( YEAR( HOUR( EPOCH_US( INNER_PRODUCT( COSINE_SIMILARITY( CAST( AS INT
    BIGINT DOUBLE VARCHAR DATE TIMESTAMP DECIMAL(10,2) :: INTERVAL SECOND SELECT FROM * . .9 ; x""".split()
)


def evaluated(text: str) -> None:
    """Bind the text both ways and evaluate what comes out."""
    try:
        condition = bind_condition(text, STREAMS, {})
    except QueryError:
        pass
    else:
        for _, expression in condition.filters:
            assert len(evaluate(expression, COLUMNS, 3)) == 3
    try:
        outputs = bind_select(text, STREAMS, {})
    except QueryError:
        return
    for output in outputs:
        result = evaluate(output.expression, COLUMNS, 3)
        assert len(result) == 3
        assert result.type == output.expression.type or isinstance(output.expression, Column)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    evaluated(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_any_words_of_the_language(text: str) -> None:
    evaluated(text)


OPERANDS = st.sampled_from(
    """T.n H.n T.value H.value T.small T.u T.single T.ts H.ts H.tz T.day T.ok T.v T.price T.location T.code 1 2.5 0 'a'
    '2026-01-01' NULL TRUE 99999999999999999999 18446744073709551615 INTERVAL+'5'+SECOND DATE+'2026-01-01'""".split()
).map(lambda word: word.replace("+", " "))
SHAPES = st.sampled_from(
    """({}+{}) ({}-{}) ({}*{}) ({}/{}) ({}%{}) ({}={}) ({}<{}) ({}>={}) ({}@AND@{}) ({}@OR@{}) (NOT@{}) ({}||{}) (-{})
    ABS({}) SIGN({}) FLOOR({}) ROUND({}) ROUND({},-1) SQRT({}) LN({}) POWER({},{}) COALESCE({},{}) NULLIF({},{})
    GREATEST({},{}) LEAST({},{}) LOWER({}) LENGTH({}) TRIM({}) SUBSTRING({},2,3) YEAR({}) MINUTE({}) EPOCH_US({})
    ({}@IN@({},{},{})) ({}@BETWEEN@{}@AND@{}) ({}@IS@NULL) ({}@IS@TRUE) ({}@IS@DISTINCT@FROM@{}) ({}@LIKE@{})
    (CASE@WHEN@{}@THEN@{}@ELSE@{}@END) (CASE@{}@WHEN@{}@THEN@{}@END) INNER_PRODUCT({},{}) CAST({}@AS@BIGINT)
    CAST({}@AS@DOUBLE) CAST({}@AS@VARCHAR) CAST({}@AS@DATE) CAST({}@AS@TIMESTAMP) CAST({}@AS@TIMESTAMPTZ)
    CAST({}@AS@DECIMAL(10,2)) CAST({}@AS@BOOLEAN) CAST({}@AS@TINYINT)""".split()
).map(lambda shape: shape.replace("@", " "))


def _filled(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return SHAPES.flatmap(lambda shape: st.tuples(*[inner] * shape.count("{}")).map(lambda parts: shape.format(*parts)))


@settings(max_examples=500, deadline=None)
@given(st.recursive(OPERANDS, _filled, max_leaves=6))
@example("(NULL IN (T.n,T.n,T.v))")
def test_any_well_formed_expression(text: str) -> None:
    evaluated(text)
