"""What a user may get wrong, and exactly what is said about it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.model.stream import Stream

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "location": pa.string(), "value": pa.float64(), "n": pa.int64()})
ROW = {"ts": 1, "location": "a", "value": 1.0, "n": 1}
TABLE = pa.Table.from_pylist([ROW], schema=SCHEMA)


def stream(name: str = "T", **options: Any) -> Stream:
    return dv.stream(name, **{"time": "ts", "window": "1 minute", "schema": SCHEMA} | options)


def join(*names: str, **options: Any) -> dv.Query:
    streams = [stream(name) for name in names or ("T", "H")]
    return dv.join(*streams, **{"on": "T.location = H.location"} | options)


def refused(action: Callable[[], Any], kind: type[dv.DovetailError], message: str) -> None:
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value) == message


STREAMS: dict[str, Callable[[], Any]] = {
    "a stream needs a name, not ''": lambda: stream(""),
    "stream 'T' has neither data nor a schema; give one of them": lambda: stream(schema=None),
    "stream 'T' has both data and a schema; data has a schema of its own": lambda: stream(data=TABLE),
    "stream 'T': data is a list; give a Spark DataFrame, an Arrow table, a pandas or Polars frame, a DuckDB relation, "
    "files(...), kafka(...), or nothing and a schema": lambda: stream(data=[1], schema=None),
    "stream 'T' has no column 'tss' to take its time from; it has: ts, location, value, n. "
    "Did you mean 'ts'?": lambda: stream(time="tss"),
    "stream 'T': time column 'n' has type int64, and needs a timestamp. A number has no unit: cast it, for example "
    "with pyarrow.compute.cast(column, pyarrow.timestamp('ms')).": lambda: stream(time="n"),
    "stream 'T' has more than one column 'a'; rename one": lambda: stream(
        schema=pa.schema([("ts", pa.timestamp("us")), ("a", pa.int64()), ("a", pa.int64())])
    ),
    "stream 'T': window '-1 second' is negative; a duration is zero or more": lambda: stream(window="-1 second"),
    "stream 'T': window 'ten minutes' is not a duration; write a number and a unit, like '10 minutes' or "
    "'1.5 seconds'": lambda: stream(window="ten minutes"),
    "stream 'T': window 5 is not a duration; write it like '10 minutes' or as a timedelta": lambda: stream(window=5),
    "stream 'T': window '99999999 weeks' is too long; a duration is at most 36,000 years": lambda: stream(
        window="99999999 weeks"
    ),
    "stream 'T': delay '-1 s' is negative; a duration is zero or more": lambda: stream(delay="-1 s"),
    "stream 'T': idle datetime.timedelta(days=-1) is negative; a duration is zero or more": lambda: stream(
        idle=timedelta(days=-1)
    ),
    "rows(0): a row window needs a whole number of rows, 1 or more": lambda: dv.rows(0),
    "rows(5, per='day'): per is 'stream' or 'key'": lambda: dv.rows(5, per="day"),  # type: ignore[arg-type]
}

QUERIES: dict[str, Callable[[], Any]] = {
    "join: needs two streams or more, got 1": lambda: dv.join(stream(), on="TRUE"),
    "join: 'T' is not a stream; make one with dovetail.stream(...)": lambda: dv.join("T", stream("H"), on="TRUE"),  # type: ignore[arg-type]
    "join: on is None; give a condition as text, like 'A.k = B.k'": lambda: join(on=None),
    "two streams are named 'T'; give each its own name. A stream is joined with itself under aliases: "
    "dovetail.sql('SELECT * FROM T x, T y WHERE x.k = y.k WINDOW 1 MINUTE', stream)": lambda: join("T", "T"),
    "stream 'H' has no window; give it one, or give the join one for all. Only what ends needs none, tables for "
    "example; window=dovetail.unbounded() keeps its rows for ever": lambda: dv.join(
        stream(), stream("H", window=None), on="T.n = H.n"
    ),
    "stream 'Z' has times with a zone (timestamp[us, tz=UTC]) and stream 'T' without one (timestamp[us]); convert "
    "one of them": lambda: dv.join(
        stream(), stream("Z", schema=pa.schema({"ts": pa.timestamp("us", "UTC"), "n": pa.int64()})), on="T.n = Z.n"
    ),
    "there is no stream 'Hu'; the query has: T, H. Did you mean 'H'?": lambda: join(on="T.location = Hu.location"),
    "stream 'T' has no column 'vaule'; it has: ts, location, value, n. Did you mean 'value'?": lambda: join(
        on="T.location = H.location AND T.vaule > 4"
    ),
    "no predicate ties 'T' to 'H' in 'T.value > 4 AND H.value > 5'. Add one, or write on='TRUE' to join every "
    "combination within the windows.": lambda: join(on="T.value > 4 AND H.value > 5"),
    "how: 'T' is the first stream, to which the others are joined; give the words for them: 'H', 'P'": lambda: join(
        "T", "H", "P", on="T.n = H.n AND H.n = P.n", how={"T": "left"}
    ),
    "how of 'H'='outer': it is one of 'inner', 'left', 'right', 'full', 'semi', 'anti'": lambda: join(
        how={"H": "outer"}
    ),
    "no condition ties 'H' to 'T'; name streams in the order of joining": lambda: join(
        "T", "H", "P", on="T.n = P.n AND H.n = P.n", how={"H": "left", "P": "left"}
    ),
    "condition 'P.n = H.n': the rows of 'P' are not in the result of this join; only those of 'T' and 'H' "
    "are": lambda: join("T", "P", "H", on="T.n = P.n AND P.n = H.n", how={"P": "semi"}, select="T.n"),
    "how='outer': it is one of 'inner', 'left', 'right', 'full', 'semi', 'anti'": lambda: join(how="outer"),
    "order='sorted': it is one of 'none', 'sync', 'hold', 'adaptive'": lambda: join(order="sorted"),
    "late='ignore': it is one of 'drop', 'keep', 'divert'": lambda: join(late="ignore"),
    "partitions=0: it is a whole number, 1 or more, or None to let the session decide": lambda: join(partitions=0),
    "algorithm='tree': it is one of 'hash', 'scan', 'sorted', 'auto'": lambda: join(algorithm="tree"),
    "algorithm of 'T'='tree': it is one of 'hash', 'scan', 'sorted', 'auto'": lambda: join(algorithm={"T": "tree"}),
    "algorithm: the query has no stream 'X'; it has: T, H.": lambda: join(algorithm={"X": "hash"}),
    "algorithm=5: give 'auto', one of hash, scan, sorted, or one per stream": lambda: join(algorithm=5),
    "adaptive(alpha=1.5): alpha is a number from 0 up to, not including, 1": lambda: dv.adaptive(1.5),
}

PLANS: dict[str, Callable[[], Any]] = {
    "algorithm: stream 'T' cannot be stored as 'hash': no equality and no band with two ends ties it to another "
    "stream. Try 'scan', or 'sorted' if a comparison does.": lambda: join(on="T.value < H.value", algorithm="hash"),
    "algorithm: stream 'H' cannot be stored as 'sorted': no equality or band predicate ties it to another stream. Try "
    "'scan'.": lambda: join(on="T.location <> H.location", algorithm={"H": "sorted"}),
    "stream 'T' has a window of 3 rows per key, but no equality ties it to another stream, so it has no key. Use "
    "rows(3) for the whole stream.": lambda: dv.join(
        stream(window=dv.rows(3, per="key")), stream("H"), on="T.value < H.value"
    ),
}

DATA: dict[str, Callable[[Any], Any]] = {
    "the query has no stream 'Temp'; it has: T, H.": lambda run: run.push("Temp", [ROW]),
    "rows for stream 'T' are a int; give an Arrow table or batch, a pandas or Polars frame, a DuckDB relation, or "
    "a list of dicts": lambda run: run.push("T", 5),
    "rows for stream 'T' hold a int; each row of a list is a dict": lambda run: run.push("T", [5]),
    "stream 'T' has no column 'locaton'; it has: ts, location, value, n. Did you mean 'location'?": lambda run: (
        run.push("T", [{"ts": 1, "locaton": "a"}])
    ),
    "rows[0] pushed to stream 'T': column 'location' needs string, and got 5: a whole number is not text; convert it "
    "first": lambda run: run.push("T", [{**ROW, "location": 5}]),
    "rows pushed to stream 'T' have no column 'location'; they have: ts, value, n.": lambda run: run.push(
        "T", TABLE.drop_columns(["location"])
    ),
    "column 'value' pushed to stream 'T' has type string, and needs double: Failed to parse string: 'x' as a scalar of "
    "type double": lambda run: run.push("T", TABLE.set_column(2, "value", pa.array(["x"]))),
    "column 'ts' pushed to stream 'T' has type timestamp[ns], and needs timestamp[us]: Casting from timestamp[ns] to "
    "timestamp[us] would lose data: 1": lambda run: run.push(
        "T", TABLE.set_column(0, "ts", pa.array([1], pa.timestamp("ns")))
    ),
    "column 'ts' pushed to stream 'T' holds the time 9223372036854775807 us; times lie within 36,000 years of 1970. "
    "Replace it by NULL, which is counted and left out.": lambda run: run.push("T", [{**ROW, "ts": 2**63 - 1}]),
    "'2024-01-01' is not a time; give a datetime, or microseconds since 1970 as a whole number": lambda run: (
        run.advance("T", "2024-01-01")
    ),
    "the query has no stream 'Q'; it has: T, H.": lambda run: run.advance("Q", 1),
    "1.5 is not a time; give a datetime, or microseconds since 1970 as a whole number": lambda run: run.tick(1.5),
}


@pytest.mark.parametrize("message", STREAMS)
def test_streams_declared_wrongly(message: str) -> None:
    refused(STREAMS[message], dv.StreamError, message)


@pytest.mark.parametrize("message", QUERIES)
def test_queries_that_cannot_be_understood(message: str) -> None:
    refused(QUERIES[message], dv.QueryError, message)


@pytest.mark.parametrize("message", PLANS)
def test_queries_that_cannot_be_run_as_asked(message: str) -> None:
    refused(PLANS[message], dv.PlanError, message)


@pytest.mark.parametrize("message", DATA)
def test_rows_and_times_that_do_not_fit_leave_the_run_as_it_was(message: str) -> None:
    run = join().local()
    run.push("H", [ROW])
    refused(lambda: DATA[message](run), dv.DataError, message)
    assert run.push("T", [ROW]).num_rows == 1


def test_incompatible_types() -> None:
    with pytest.raises(dv.QueryError, match=r"cannot compare T\.location \(string\) with H\.value \(double\)"):
        join(on="T.location = H.value")


@pytest.mark.parametrize("action", ["push", "advance", "tick", "close"])
def test_a_closed_run_stays_closed(action: str) -> None:
    run = join().local()
    run.close()
    arguments = {"push": ("T", [ROW]), "advance": ("T", 1), "tick": (1,), "close": ()}[action]
    message = f"{action}: this run is closed. Start another with query.local()."
    refused(lambda: getattr(run, action)(*arguments), dv.DataError, message)


def test_a_run_in_the_middle_of_a_call_has_no_snapshot() -> None:
    run = join().local()
    results = run.push_batches("T", [ROW])
    message = (
        "snapshot: the results of the call before were not read to the end. "
        "Read them, or make another call first: they come out with its results."
    )
    refused(run.snapshot, dv.DataError, message)
    assert list(results) == []
    assert run.push("H", [ROW]).num_rows == 1
    assert run.snapshot()


def test_rows_without_a_time_are_counted_and_diverted() -> None:
    run = join(late="divert").local()
    run.push("T", [{**ROW, "ts": None}, ROW])
    assert run.metrics()["streams"]["T"]["null_time"] == 1
    assert run.late.select(["stream", "reason", "late_by"]).to_pylist() == [
        {"stream": "T", "reason": "no time", "late_by": None}
    ]
    assert run.late["T"].to_pylist() == [{**ROW, "ts": None}]


def test_a_collection_needs_data() -> None:
    message = "collect: stream 'T' has no data; give it some, or push rows to query.local()"
    refused(lambda: join().collect(), dv.DataError, message)
