"""Every mistake in a text is a QueryError that says what was needed, what came and where."""

import pyarrow as pa
import pytest

from dovetail.errors import QueryError
from dovetail.model.expression import UserFunction
from dovetail.model.stream import Stream
from dovetail.sql import bind_condition, bind_select
from tests.unit.sql.streams import STREAMS

NEAR = UserFunction("near", lambda a, b: a, (pa.float64(), pa.float64()), pa.bool_())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X.a = 1", "there is no stream 'X'; the query has: T, H, K."),
        ("value = 3", "column 'value' is in more than one stream; write T.value or H.value or K.value"),
        ("T.location = H.value", 'cannot compare T.location (string) with H.value (double) in "T.location = H.value"'),
        ("T.ok = H.n", 'cannot compare T.ok (bool) with H.n (int64) in "T.ok = H.n"'),
        ("T.v = H.v", 'cannot compare T.v (list<item: float>) with H.v (list<item: float>) in "T.v = H.v"'),
        ("NULL IN (T.n, T.v)", 'cannot compare NULL (null) with T.v (list<item: float>) in "NULL IN (T.n, T.v)"'),
        ("T.location > 5", 'cannot compare T.location (string) with 5 (int64) in "T.location > 5"'),
        ("T.location + 1 = 2", 'cannot add T.location (string) and 1 (int64) in "T.location + 1"'),
        ("T.value", "a join condition must be true or false, but T.value is double"),
        ("T.n AND T.ok", "each side of AND must be true or false, but T.n is int64"),
        ("sqrt(T.location) > 1", 'SQRT needs a number, but T.location is string in "sqrt(T.location)"'),
        ("SQRT(1, 2) > 1", 'SQRT takes 1 argument, but "SQRT(1, 2)" has 2'),
        ("INNER_PRODUCT(T.v, T.n) > 1", "INNER_PRODUCT needs vectors (lists of numbers), but T.n is int64 in "),
        ("near(T.value) ", 'NEAR takes 2 arguments, but "near(T.value)" has 1'),
        ("near(T.value, T.location)", "near needs double as argument 2, but came T.location (string) in "),
        ("COUNT(T.n) > 1", '"COUNT(T.n)" is an aggregate; it has no place in an expression over single rows'),
        ("T.n IN (SELECT 1)", '"T.n IN (SELECT 1)": IN needs a list of values in parentheses'),
        ("(SELECT 1) = 1", '"(SELECT 1)" (SUBQUERY) is not part of the language'),
        ("SUM(T.n) OVER () > 1", '"SUM(T.n) OVER ()" (WINDOW) is not part of the language'),
        ("T.ts > 'soon'", "'soon' stands beside a timestamp[us] but is not a time; write it like '2026-01-31' or "),
        ("CAST('x' AS INT) = 1", "'x' is not a int32 in \"CAST('x' AS INT)\""),
        ("CAST(T.v AS INT) = 1", 'cannot cast T.v (list<item: float>) to int32 in "CAST(T.v AS INT)"'),
        ("T.n = ", 'cannot read "T.n = ": an operand is missing at line 1, column 5, near "="'),
        ("T.n =\n  1 )", 'cannot read "T.n =\n  1 )": unexpected text at line 2, column 5, near ")"'),
        ("T.n = 'x", 'cannot read "T.n = \'x": a quote or a comment in it is never closed'),
        ("T.n = 1; T.n = 2", '"T.n = 1; T.n = 2" is not an expression'),
        ("T.n = 1 FROM x", '"T.n = 1 FROM x" is more than an expression: FROM has no place in it'),
        ("T.ok nonsense", 'cannot read "T.ok nonsense": "nonsense" is one word too many'),
        ("", "the text is empty; write an expression such as T.location = H.location"),
        ("T.n = H.n, T.n = 1", '"T.n = H.n, T.n = 1" is 2 expressions; a condition is one (join its parts by AND)'),
    ],
)
def test_message(text: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        bind_condition(text, STREAMS, {"near": NEAR})
    assert str(raised.value).startswith(message)


def test_a_wrong_column_is_answered_with_the_right_one() -> None:
    stream = Stream("T", pa.schema({"location": pa.string(), "value": pa.float64(), "ts": pa.timestamp("us")}), "ts")
    with pytest.raises(QueryError) as raised:
        bind_condition("T.vaule > 1", [stream], {})
    assert str(raised.value) == "stream 'T' has no column 'vaule'; it has: location, value, ts. Did you mean 'value'?"


def test_a_wrong_function_is_answered_with_the_right_one() -> None:
    with pytest.raises(QueryError, match=r"there is no function 'abbs' as in \"abbs\(T\.n\)\"; .* mean 'ABS'\?"):
        bind_condition("abbs(T.n) = 1", STREAMS, {})


def test_depth_has_an_end() -> None:
    deep = "(" * 5000 + "T.n" + ")" * 5000 + " = 1"
    with pytest.raises(QueryError, match="nested too deeply"):
        bind_condition(deep, STREAMS, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T.n AS a, H.n AS a", "the select list has 'a' more than once; give each its own name with AS"),
        ("T.n, T.n", "the select list has 'T_n' more than once; give each its own name with AS"),
        ("T.n AS result_time", "the name 'result_time' is taken by the first column of every result; choose another"),
        ("NULL AS nothing", '"NULL" has no type; write CAST(... AS ...)'),
        ("X.*", "there is no stream 'X'; the query has: T, H, K."),
    ],
)
def test_select_message(text: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        bind_select(text, STREAMS, {})
    assert str(raised.value) == message
