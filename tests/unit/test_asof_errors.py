"""What is wrong with an as-of join is said in a sentence when it is built."""

from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64()})


def stream(name: str, asof: Any = None, **options: Any) -> Any:
    return dv.stream(name, time="ts", schema=SCHEMA, asof=asof, **options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tolerance": "-5 seconds"}, "asof: tolerance '-5 seconds' is negative; a duration is zero or more"),
        ({"tolerance": 5}, "asof: tolerance 5 is not a duration; write it like '10 minutes' or as a timedelta"),
        ({"direction": ("backward", "forward")}, "direction=('backward', 'forward'): it is one of 'backward', 'for"),
        ({"direction": "last"}, "asof: direction='last': it is one of 'backward', 'forward', 'nearest'"),
        ({"tolerance": "0 seconds", "equal": False}, "only equal times match, and equal=False leaves them out"),
        ({"equal": "yes"}, "asof: equal='yes': it is True or False"),
    ],
)
def test_of_the_settings(options: dict[str, Any], text: str) -> None:
    with pytest.raises(dv.StreamError) as raised:
        dv.asof(**options)
    assert text in str(raised.value)


def test_of_a_stream() -> None:
    with pytest.raises(dv.StreamError, match=r"asof='backward': make one with dovetail.asof"):
        stream("Q", "backward")


@pytest.mark.parametrize(
    ("streams", "options", "text"),
    [
        ("Tq", {"on": "TRUE", "window": "5 s"}, "stream 'T' has a window, and an as-of join has none; leave it out"),
        ("tq", {"on": "TRUE"}, "answers the rows of one stream, the one without asof=, and here none is left"),
        ("TSq", {"on": "TRUE"}, "the one without asof=, and here 'T', 'S' are; give all others an asof="),
        ("Tqr", {"on": "T.k = q.k AND q.k = r.k"}, "condition 'q.k = r.k' is about 'q', 'r'; in an as-of join a"),
        (
            "Tqr",
            {"on": "T.k = q.k AND q.k = r.k"},
            "Answer 'T' in a query of its own first, in order, and let its results",
        ),
        ("Tq", {"on": "T.k = q.k AND T.v > q.v"}, "all of them would have to be kept for ever; limit them with asof(t"),
        (
            "Tq",
            {"on": "T.k = q.k", "how": "full"},
            "answers the rows of one stream, with or without what the others have. Take 'inner'",
        ),
        ("Tq", {"on": "T.k = q.k", "how": {"T": "left"}}, "how: there is no as-of stream 'T'; it has: q"),
        (
            "Tq",
            {"on": "T.k = q.k", "late": "keep"},
            "and late='keep' do not go together: a late row could change an answer that was given",
        ),
        (
            "Tq",
            {"on": "T.k = q.k", "algorithm": "scan"},
            "windows='as of' and algorithm='scan' do not go together: its rows are stored in one way",
        ),
        (
            "Tqr",
            {"on": "T.k = q.k AND T.k = r.k", "plan": "binary"},
            "and runs='tree' do not go together: an as-of join is one",
        ),
        (
            "Tq",
            {"on": "T.k = q.k", "budget": dv.budget(memory="1 MB")},
            "do not go together: a row that is left out would make another the best",
        ),
        ("Tq", {"on": "T.k = q.k", "select": "COUNT(*) AS n"}, "COUNT(*) needs windows of time, and 'T' has none"),
        ("Tqr", {"on": "T.k = q.k"}, "no predicate ties 'T', 'q' to 'r' in 'T.k = q.k'. Add one, or write on='TRUE'"),
    ],
)
def test_of_a_query(streams: str, options: dict[str, Any], text: str) -> None:
    made = [stream(name, dv.asof() if name.islower() else None) for name in streams]
    with pytest.raises(dv.QueryError) as raised:
        dv.join(*made, **options)
    assert text in str(raised.value)


def test_of_what_a_query_is_changed_to() -> None:
    query = dv.join(stream("T"), stream("Q", dv.asof()), on="T.k = Q.k")
    with pytest.raises(dv.QueryError, match="make the query anew"):
        query.replace(how="left")


def test_of_queries_that_come_to_others_late() -> None:
    query, other = (
        dv.join(stream("T"), stream("Q", dv.asof()), on="T.k = Q.k", select=select).named(select[-1])
        for select in ("T.k, Q.v", "T.v, Q.k")
    )
    run = dv.share(query).local()
    run.push("Q", [{"ts": 1, "k": 1, "v": 1.0}])
    with pytest.raises(dv.QueryError, match="'k' cannot join running queries: none of them is an as-of join of the"):
        run.add(other)
    run.add(query.named("again"))
    assert set(run.metrics()["queries"]) == {"v", "again"}, "the run goes on as it was"
