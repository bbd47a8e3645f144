"""Evaluation over columns where the answer can be written down by hand."""

import operator
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from dovetail.engine.evaluate import compile_expression, evaluate
from dovetail.errors import DataError
from dovetail.model.expression import FUNCTIONS, Call, Column, Expression, Literal, UserFunction
from dovetail.model.stream import Stream
from dovetail.sql import bind_select

NAN = float("nan")


def value_of(text: str, **columns: pa.Array) -> list[object]:
    """The values of an expression over columns of one stream T."""
    schema = pa.schema({"ts": pa.timestamp("us")} | {name: column.type for name, column in columns.items()})
    (output,) = bind_select(f"{text} AS answer", [Stream("T", schema, "ts")], {})
    rows = {("T", name): column for name, column in columns.items()}
    length = len(next(iter(columns.values())))
    result = evaluate(output.expression, rows, length)
    assert result.type == output.expression.type
    return list(result.to_pylist())


INTS = pa.array([7, -7, 0, None], pa.int64())
FLOATS = pa.array([2.5, -2.5, NAN, None])
TEXTS = pa.array(["window", "", " Join ", None])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + 1", [8, -6, 1, None]),
        ("-x", [-7, 7, 0, None]),
        ("x / 2", [3.5, -3.5, 0.0, None]),
        ("x / x", [1.0, 1.0, None, None]),
        ("x % 3", [1, -1, 0, None]),
        ("3 % x", [3, 3, None, None]),
        ("x % -1", [0, 0, 0, None]),
        ("x % 2.5", [2.0, -2.0, 0.0, None]),
        ("ABS(x)", [7, 7, 0, None]),
        ("SIGN(x)", [1, -1, 0, None]),
        ("ROUND(x, -1)", [10.0, -10.0, 0.0, None]),
        ("x > 0", [True, False, False, None]),
        ("x IN (7, 8)", [True, False, False, None]),
        ("x IN (7, NULL)", [True, None, None, None]),
        ("x NOT IN (7, NULL)", [False, None, None, None]),
        ("x = NULL", [None] * 4),
        ("x IS NULL", [False, False, False, True]),
        ("x IS DISTINCT FROM 7", [False, True, True, True]),
        ("x = 7 OR NULL", [True, None, None, None]),
        ("x = 7 AND NULL", [None, False, False, None]),
        ("(x = 7) IS TRUE", [True, False, False, False]),
        ("COALESCE(x, 1)", [7, -7, 0, 1]),
        ("NULLIF(x, 7)", [None, -7, 0, None]),
        ("GREATEST(x, 1, NULL)", [7, 1, 1, 1]),
        ("LEAST(x, 1)", [1, -7, 0, 1]),
        ("CASE WHEN x <> 0 THEN 14 / x WHEN x = 0 THEN 99 END", [2.0, -2.0, 99.0, None]),
        ("CASE x WHEN 7 THEN 'seven' ELSE 'other' END", ["seven", "other", "other", "other"]),
        ("CAST(x AS VARCHAR)", ["7", "-7", "0", None]),
        ("CAST(x * 100 AS TINYINT)", [None, None, 0, None]),
        ("5", [5] * 4),
    ],
)
def test_integers(text: str, expected: list[object]) -> None:
    assert value_of(text, x=INTS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = x", [True, True, False, None]),
        ("x <> x", [False, False, True, None]),
        ("x < 0", [False, True, False, None]),
        ("NOT (x < 0)", [True, False, True, None]),
        ("x IN (2.5, 3)", [True, False, False, None]),
        ("CAST(x AS BIGINT)", [2, -2, None, None]),
        ("x / 0", [None] * 4),
    ],
)
def test_floats(text: str, expected: list[object]) -> None:
    assert value_of(text, x=FLOATS) == expected


def test_rounding_is_half_away_from_zero() -> None:
    halves = pa.array([0.5, 1.5, -0.5, 2.4])
    assert value_of("ROUND(x)", x=halves) == [1.0, 2.0, -1.0, 2.0]
    assert value_of("FLOOR(x)", x=halves) == [0.0, 1.0, -1.0, 2.0]
    assert value_of("CEIL(x)", x=halves) == [1.0, 2.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + 1", [None, -(2**63) + 1, 1, None]),
        ("x - 1", [2**63 - 2, None, -1, None]),
        ("1 - x", [-(2**63) + 2, None, 1, None]),
        ("x * 2", [None, None, 0, None]),
        ("x * -1", [-(2**63) + 1, None, 0, None]),
        ("-1 * x", [-(2**63) + 1, None, 0, None]),
        ("-x", [-(2**63) + 1, None, 0, None]),
        ("ABS(x)", [2**63 - 1, None, 0, None]),
        ("x % -1", [0, 0, 0, None]),
        ("x + x", [None, None, 0, None]),
        ("x - x", [0, 0, 0, None]),
        ("CAST(x AS INTEGER)", [None, None, 0, None]),
        ("CAST(x AS DECIMAL(18, 0))", [None, None, 0, None]),
        ("x + 1 IS NULL", [True, False, False, True]),
        ("CASE WHEN x > 0 THEN x - 1 ELSE x + 1 END", [2**63 - 2, -(2**63) + 1, 1, None]),
        ("9223372036854775807 + 1", [None] * 4),
    ],
)
def test_arithmetic_that_overflows_is_null(text: str, expected: list[object]) -> None:
    assert value_of(text, x=pa.array([2**63 - 1, -(2**63), 0, None])) == expected


def test_times_that_overflow_are_null() -> None:
    days = pa.array([2**31 - 1, 1], pa.int32()).cast(pa.date32())
    assert value_of("EPOCH_US(x)", x=days) == [None, 86_400_000_000]
    assert value_of("EPOCH_US(x)", x=pa.array([2**62, 1], pa.timestamp("s"))) == [None, 1_000_000]
    assert value_of("EPOCH_US(x)", x=pa.array([2**62, 1], pa.duration("s"))) == [None, 1_000_000]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x * x", [None, "2.250000"]),  # decimal(38, 6), as in Spark
        ("x + x", [None, "3.00"]),
        ("x * 1000", [None, "1500.00"]),
        ("9007199254740993 % x", ["9007199254740993.00", "0.00"]),
        ("x % 9007199254740993", ["3706667233936011.00", "1.50"]),
        ("x % CAST('0.7' AS DECIMAL(2, 1))", ["0.0", "0.10"]),
        ("x % 0", [None, None]),
        ("CAST(x AS DECIMAL(2, 1))", [None, "1.5"]),
        ("CAST(x AS BIGINT)", [None, "1"]),
    ],
)
def test_decimals_are_exact_and_null_beyond_their_digits(text: str, expected: list[str | None]) -> None:
    found = value_of(text, x=pa.array([Decimal(10**36 - 1), Decimal("1.50")], pa.decimal128(38, 2)))
    assert found == [None if each is None else Decimal(each) for each in expected]


def test_casts_of_decimals_cut_and_round_every_digit() -> None:
    nines = pa.array(
        [Decimal("9" * 18 + "." + "9" * 20), Decimal("9" * 17 + "." + "9" * 19 + "4")], pa.decimal128(38, 20)
    )
    assert value_of("CAST(x AS BIGINT)", x=nines) == [10**18 - 1, 10**17 - 1]
    assert value_of("CAST(x AS DECIMAL(38, 19))", x=nines) == [Decimal(10**18), Decimal("9" * 17 + "." + "9" * 19)]


def test_unsigned_integers_do_not_wrap() -> None:
    columns = {"x": pa.array([1, 2**64 - 1], pa.uint64()), "y": pa.array([2, -1], pa.int64())}
    assert value_of("ABS(x - y)", **columns) == [1, 2**64]
    assert value_of("x > y", **columns) == [False, True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LENGTH(x)", [6, 0, 6, None]),
        ("UPPER(TRIM(x))", ["WINDOW", "", "JOIN", None]),
        ("x || '!'", ["window!", "!", " Join !", None]),
        ("CONCAT(x, NULL)", [None] * 4),
        ("SUBSTRING(x, 2, 3)", ["ind", "", "Joi", None]),
        ("SUBSTRING(x, -3)", ["dow", "", "in ", None]),
        ("SUBSTRING(x, 0, 2)", ["w", "", " ", None]),
        ("x LIKE '%in%'", [True, False, True, None]),
        ("x LIKE '_indow'", [True, False, False, None]),
        ("x ILIKE '%JOIN%'", [False, False, True, None]),
        ("x NOT LIKE 'w%'", [False, True, True, None]),
        ("x < 'a'", [False, True, True, None]),
        ("x IN ('window', '')", [True, True, False, None]),
    ],
)
@pytest.mark.parametrize(
    "type", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_texts(text: str, expected: list[object], type: pa.DataType) -> None:
    assert value_of(text, x=TEXTS.cast(type)) == expected


def test_times() -> None:
    when = pa.array([1_000_000, -1, None], pa.timestamp("us"))
    assert value_of("YEAR(x)", x=when) == [1970, 1969, None]
    assert value_of("EPOCH_US(x + INTERVAL '1' SECOND)", x=when) == [2_000_000, 999_999, None]
    assert value_of("x >= '1970-01-01'", x=when) == [True, False, None]
    assert value_of("x - TIMESTAMP '1970-01-01' = INTERVAL '1' SECOND", x=when) == [True, False, None]
    assert value_of("HOUR(x)", x=pa.array([1], pa.date32())) == [0]
    assert value_of("x < TIMESTAMP '1970-01-01 00:00:01'", x=when.cast(pa.timestamp("ns", "UTC"))) == [
        False,
        True,
        None,
    ]
    assert value_of("CAST(CAST(x AS DATE) AS VARCHAR)", x=when) == ["1970-01-01", "1969-12-31", None]


def test_texts_that_cannot_be_read_are_null() -> None:
    texts = pa.array(["7", "seven", None, "7", "99999999999999999999"])
    assert value_of("CAST(x AS BIGINT)", x=texts) == [7, None, None, 7, None]
    times = pa.array(["1970-01-01", "1970-01-01 01:00:00+01:00", "soon"])
    for type in (pa.string(), pa.large_string()):
        assert value_of("EPOCH_US(CAST(x AS TIMESTAMPTZ))", x=times.cast(type)) == [0, 0, None]


def test_casts_between_numbers() -> None:
    large = pa.array([2**53 + 1, 5], pa.int64())
    assert value_of("CAST(x AS DOUBLE)", x=large) == [float(2**53), 5.0]
    assert value_of("CAST(x AS DECIMAL(10, 2))", x=large) == [None, Decimal("5.00")]
    exact = pa.array([Decimal("1.555"), Decimal("-7.9")], pa.decimal128(10, 3))
    assert value_of("CAST(x AS DECIMAL(10, 2))", x=exact) == [Decimal("1.56"), Decimal("-7.90")]
    assert value_of("CAST(x AS BIGINT)", x=exact) == [1, -7]
    assert value_of("CAST(x AS DECIMAL(4, 1))", x=pa.array([1.26, 1e9])) == [Decimal("1.3"), None]
    assert value_of("CAST(x AS DECIMAL(4, 1))", x=pa.array(["1.5", "x"])) == [Decimal("1.5"), None]


LISTS = [[3.0, 4.0], [0.0, 0.0], [None, 1.0], None, [1.0]]
OTHERS = [[4.0, 3.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("type", [pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.int32())])
def test_vectors(type: pa.DataType) -> None:
    columns = {"a": pa.array([None, *LISTS], type).slice(1), "b": pa.array([None, *OTHERS], type).slice(1)}
    assert value_of("INNER_PRODUCT(a, b)", **columns) == [24.0, 0.0, None, None, None]
    assert value_of("COSINE_SIMILARITY(a, b)", **columns) == [0.96, None, None, None, None]


def test_vectors_of_fixed_size() -> None:
    type = pa.list_(pa.float32(), 2)
    columns = {"a": pa.array([None, *LISTS[:4]], type).slice(1), "b": pa.array([None, *OTHERS[:4]], type).slice(1)}
    assert value_of("INNER_PRODUCT(a, b)", **columns) == [24.0, 0.0, None, None]


def test_a_vector_s_value_does_not_depend_on_the_batch() -> None:
    values = np.random.default_rng(1).normal(size=(200, 33))
    column = pa.array(list(values), pa.list_(pa.float64()))
    twin = column.take(list(range(199, -1, -1)))
    whole = value_of("COSINE_SIMILARITY(a, b)", a=column, b=twin)
    alone = [value_of("COSINE_SIMILARITY(a, b)", a=column[i : i + 1], b=twin[i : i + 1])[0] for i in range(200)]
    assert whole == alone
    assert np.allclose(
        np.array(whole, float),
        [x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x, y in zip(values, values[::-1], strict=True)],
    )


def _user(callable: object, result: pa.DataType = pa.int64()) -> Expression:  # noqa: B008
    function = UserFunction("twice", callable, (pa.int64(),), result)  # type: ignore[arg-type]
    return Call("user", (Column("T", "x", pa.int64()),), result, function)


@pytest.mark.parametrize(
    "callable",
    [
        lambda x: pa.array([2 * value for value in x.to_pylist()]),
        lambda x: pa.chunked_array([[2], [4]]),
        lambda x: 2 * x.to_numpy(),
        lambda x: [2, 4],
        lambda x: np.array([2.0, 4.0]),
    ],
)
def test_user_functions_may_answer_in_many_forms(callable: object) -> None:
    assert evaluate(_user(callable), {("T", "x"): pa.array([1, 2])}, 2).equals(pa.array([2, 4]))


@pytest.mark.parametrize(
    ("callable", "message"),
    [
        (lambda x: [1], "function 'twice' was given 2 rows and returned 1; it must return one value for each row"),
        (lambda x: 1 / 0, "function 'twice' failed on 2 rows: division by zero"),
        (lambda x: ["a", "b"], "function 'twice' was to return an array of int64, but returned list"),
        (lambda x: None, "function 'twice' was to return an array of int64, but returned NoneType"),
    ],
)
def test_user_functions_that_go_wrong_are_named(callable: object, message: str) -> None:
    with pytest.raises(DataError) as raised:
        evaluate(_user(callable), {("T", "x"): pa.array([1, 2])}, 2)
    assert str(raised.value).startswith(message)


def test_expressions_travel() -> None:
    expression = pickle.loads(pickle.dumps(_user(operator.methodcaller("to_numpy"))))
    assert compile_expression(expression)({("T", "x"): pa.array([1, 2])}, 2).to_pylist() == [1, 2]


def test_every_function_of_the_model_is_known() -> None:
    from dovetail.engine.evaluate.compile import _WHOLE_COLUMNS
    from dovetail.engine.evaluate.operations import OPERATIONS

    assert OPERATIONS.keys() | _WHOLE_COLUMNS.keys() == FUNCTIONS


def test_no_rows() -> None:
    assert evaluate(Literal(True, pa.bool_()), {}, 0).equals(pa.array([], pa.bool_()))
    assert value_of("x % 2.5 + LENGTH(CAST(x AS VARCHAR))", x=pa.array([], pa.int64())) == []
