import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dovetail.model.expression import FUNCTIONS, Call, Column, Expression, Literal, UserFunction
from dovetail.model.predicate import Band, Similarity
from dovetail.testing.functions import SCALAR
from dovetail.testing.interpret import _LAZY, holds, interpret

INT, FLOAT, BOOL, TEXT = pa.int64(), pa.float64(), pa.bool_(), pa.string()
VECTOR = pa.list_(pa.float64())


def value_of(function: str, *values: Any, type_: pa.DataType = BOOL) -> Any:
    arguments = tuple(Literal(value, pa.scalar(value).type) for value in values)
    return interpret(Call(function, arguments, type_), {})


def test_every_function_is_known() -> None:
    assert FUNCTIONS - SCALAR.keys() - _LAZY.keys() == {"cast", "user"}


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        ("and", (True, None), None),
        ("and", (False, None), False),
        ("or", (True, None), True),
        ("or", (False, None), None),
        ("not", (None,), None),
        ("is_null", (None,), True),
        ("eq", (1, None), None),
        ("eq", (math.nan, math.nan), False),
        ("ne", (math.nan, math.nan), True),
        ("lt", (math.nan, 1.0), False),
        ("in", (1, 2, None), None),
        ("in", (1, 1, None), True),
        ("in", (1, 2), False),
        ("coalesce", (None, 3), 3),
        ("case", (False, 1, None, 2, 3), 3),
        ("case", (False, 1), None),
        ("nullif", (1, 1), None),
        ("greatest", (1, None, 3), 3),
        ("greatest", (math.nan, 1.0), 1.0),
        ("least", (None, None), None),
        ("modulo", (-7, 3), -1),
        ("divide", (1.0, 0.0), None),
        ("like", ("a.b", "a.%"), True),
        ("like", ("axb", "a.%"), False),
        ("like", ("50%", "50\\%"), True),
        ("substring", ("window", -3, 2), "do"),
        ("round", (2.5,), 3.0),
        ("round", (-0.125, 2), -0.13),
        ("sign", (-3,), -1),
        ("epoch_us", (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),), 1_000_000),
        ("inner_product", ([1.0, 2.0], [3.0, 4.0]), 11.0),
        ("cosine_similarity", ([0.0, 1.0], [0.0, 2.0]), 1.0),
        ("cosine_similarity", ([0.0, 0.0], [0.0, 2.0]), None),
    ],
)
def test_functions(function: str, values: tuple[Any, ...], expected: Any) -> None:
    assert value_of(function, *values) == expected


def test_what_overflows_its_type_is_null() -> None:
    assert value_of("add", 2**63 - 1, 1, type_=INT) is None
    assert value_of("abs", -(2**63), type_=INT) is None
    assert value_of("multiply", 12, 12, type_=pa.int8()) is None
    assert value_of("subtract", 1, 2, type_=pa.uint8()) is None
    assert value_of("add", Decimal("9.5"), Decimal("0.5"), type_=pa.decimal128(2, 1)) is None


def test_single_precision_is_kept_at_every_step() -> None:
    assert value_of("add", 0.1, 0.2, type_=pa.float32()) != value_of("add", 0.1, 0.2)


def test_casts() -> None:
    def cast(value: Any, source: pa.DataType, target: pa.DataType) -> Any:
        return interpret(Call("cast", (Literal(value, source),), target), {})

    assert cast(2.7, FLOAT, INT) == 2
    assert cast(2, INT, FLOAT) == 2.0
    assert cast("12", TEXT, INT) == 12
    assert cast("twelve", TEXT, INT) is None
    assert cast(1e300, FLOAT, INT) is None
    assert cast(math.nan, FLOAT, INT) is None
    assert cast(None, TEXT, INT) is None


def test_an_absent_stream_reads_as_null() -> None:
    assert interpret(Column("T", "x", INT), {"S": {"x": 1}}) is None


def test_user_functions_see_columns() -> None:
    double = UserFunction("double", lambda column: pa.array([2 * x for x in column.to_pylist()]), (INT,), INT)
    expression: Expression = Call("user", (Column("S", "x", INT),), INT, double)
    assert interpret(expression, {"S": {"x": 21}}) == 42


@pytest.mark.parametrize(("gap", "expected"), [(-2, False), (-1, True), (2, False), (1, True)])
def test_bands_may_be_strict_on_either_side(gap: int, expected: bool) -> None:
    band = Band(Literal(gap, INT), Literal(0, INT), -1, 2, high_strict=True)
    assert holds(band, {}) is expected


def test_similarity_needs_two_vectors() -> None:
    at_least = Similarity(Literal([1.0], VECTOR), Literal([2.0], VECTOR), "inner_product", 2.0)
    above = Similarity(Literal([1.0], VECTOR), Literal([2.0], VECTOR), "inner_product", 2.0, strict=True)
    unknown = Similarity(Literal(None, VECTOR), Literal([2.0], VECTOR), "cosine_similarity", -1.0)
    assert [holds(each, {}) for each in (at_least, above, unknown)] == [True, False, False]
