"""Options beside the text of a query, and where mistakes are shown."""

from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.sql.place import Source, Span

SCHEMA = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
ORDERS, PAYMENTS = (dv.stream(name, time="ts", schema=SCHEMA) for name in ("Orders", "Payments"))
TEXT = "SELECT O.k FROM Orders O, Payments P WHERE O.k = P.k"


def windows(query: dv.Query) -> dict[str, str]:
    return {stream.name: str(stream.window) for stream in query.model.streams}


def test_options_are_those_of_join() -> None:
    query = dv.sql(TEXT, ORDERS, PAYMENTS, window="1 minute", order="hold", late="keep", algorithm={"O": "scan"})
    assert windows(query) == {"O": "1 minute", "P": "1 minute"}
    assert (query.model.order, query.model.late, query.model.algorithm) == ("hold", "keep", {"O": "scan"})


def test_text_and_join_give_the_same_query() -> None:
    joined = dv.join(ORDERS, PAYMENTS, on="Orders.k = Payments.k", select="Orders.k", window="1 minute")
    text = "SELECT Orders.k FROM Orders, Payments WHERE Orders.k = Payments.k WINDOW 1 MINUTE"
    assert dv.sql(text, ORDERS, PAYMENTS).model == joined.model


def test_windows_text_before_stream_before_option() -> None:
    own = dv.stream("Payments", time="ts", schema=SCHEMA, window="2 minutes")
    assert windows(dv.sql(TEXT, ORDERS, own, window="3 minutes")) == {"O": "3 minutes", "P": "2 minutes"}
    given = dv.sql(f"{TEXT} WINDOW P 1 MINUTE", ORDERS, own, window=dv.rows(5))
    assert windows(given) == {"O": "5 rows", "P": "1 minute"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "left"}, "how= is stated in the text of the query; leave it out of the options"),
        ({"ordr": "sync"}, "a query has no option 'ordr'; it has: window, order, "),
        ({"order": "fast"}, "order='fast': it is one of "),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dv.QueryError) as raised:
        dv.sql(f"{TEXT} WINDOW 1 MINUTE", ORDERS, PAYMENTS, **options)
    assert str(raised.value).startswith(message)


def test_a_window_for_all_is_given_once() -> None:
    with pytest.raises(dv.QueryError, match="given here and as window="):
        dv.sql(f"{TEXT} WINDOW 1 MINUTE", ORDERS, PAYMENTS, window="2 minutes")


def test_the_function_stays_a_function() -> None:
    dv.sql(f"{TEXT} WINDOW 1 MINUTE", ORDERS, PAYMENTS)
    assert callable(dv.sql), "loading the package of that name must not take its place"


@pytest.mark.parametrize(
    ("text", "span", "shown"),
    [
        ("a b c", Span(2, 3), "line 1, column 3: no\n    a b c\n      ^"),
        ("a\n\tb cd", Span(5, 7), "line 2, column 4: no\n    \tb cd\n    \t  ^^"),
        ("a\nbc\nd", Span(3, 6), "line 2, column 2: no\n    bc\n     ^"),
        ("x" * 500, Span(400, 401), "line 1, column 401: no"),
        ("ab", Span(9, 10), "line 1, column 3: no\n    ab\n      ^"),
    ],
)
def test_places(text: str, span: Span, shown: str) -> None:
    assert str(Source(text).error("no", span)) == shown
