"""Tables beside streams: versions, waiting until they are loaded, conditions, and what is refused when it is built."""

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.sql import parse_pipeline

ORDERS = pa.schema({"ts": pa.timestamp("us"), "sku": pa.int64(), "n": pa.int64()})
PRICES = pa.schema({"since": pa.timestamp("us"), "sku": pa.int64(), "price": pa.float64(), "gone": pa.bool_()})
ROWS = {"sku": [7, 8, None], "price": [9.5, 3.0, 1.0]}


ODD: Any = 3


def orders(**options: Any) -> Any:
    return dv.stream("O", time="ts", schema=ORDERS, **options)


def versions(**options: Any) -> Any:
    return dv.table("P", key="sku", time="since", schema=PRICES, **options)


def join(table: Any, on: str = "O.sku = P.sku", **options: Any) -> dv.Query:
    return dv.join(orders(), table, on=on, select="O.ts, P.price", how="left", **options)


def order(ts: int, sku: int = 7, n: int = 1) -> dict[str, Any]:
    return {"ts": ts, "sku": sku, "n": n}


def price(since: int, price: float, sku: int = 7, gone: bool = False) -> dict[str, Any]:
    return {"since": since, "sku": sku, "price": price, "gone": gone}


@pytest.mark.parametrize("data", [pa.table(ROWS), pa.record_batch(ROWS), pd.DataFrame(ROWS), pl.DataFrame(ROWS)])
def test_a_table_without_a_time_answers_from_the_first_row_on(data: Any) -> None:
    run = join(dv.table("P", data, key="sku")).local()
    assert run.push("O", [order(-5), order(3, 8), order(4, 9)])["price"].to_pylist() == [9.5, 3.0, None]
    again = join(dv.table("P", data, key="sku")).local(run.snapshot())
    assert again.push("O", [order(5)])["price"].to_pylist() == [9.5]


def test_a_table_without_a_time_takes_the_zone_of_the_others() -> None:
    zoned = pa.schema({"ts": pa.timestamp("us", "UTC"), "sku": pa.int64()})
    prices = dv.table("P", pa.table({"sku": [7], "price": [9.5]}), key="sku")
    query = dv.join(prices, dv.stream("O", time="ts", schema=zoned, ahead="1 hour"), on="O.sku = P.sku")
    assert query.schema.names == ["result_time", "P_sku", "P_price", "O_ts", "O_sku"]
    found = query.local().push("O", [{"ts": datetime(2026, 7, 1, tzinfo=UTC), "sku": 7}])
    assert found["result_time"].type == pa.timestamp("us", "UTC")
    assert found["P_price"].to_pylist() == [9.5]


def test_rows_wait_until_the_table_is_loaded_and_are_counted() -> None:
    run = join(versions(ready="1970-01-01 00:00:00.000010")).local()
    assert run.push("O", [order(3), order(12)]).num_rows == 0
    run.push("P", [price(5, 2.0)])
    run.push("P", [price(1, 1.0)])  # while it is loaded, in any order
    assert run.metrics()["streams"]["P"]["awaited_by"] == 2
    assert run.push("P", [price(10, 3.0)])["price"].to_pylist() == [1.0]
    assert run.metrics()["streams"]["P"]["late"] == 0
    assert run.push("O", [order(20)])["price"].to_pylist() == [3.0], "loaded, it holds nobody back"
    run.push("P", [price(20, 4.0)])
    assert run.close()["price"].to_pylist() == [4.0]


def test_a_version_that_comes_later_than_its_delay_is_late() -> None:
    run = join(versions(ready=datetime(1970, 1, 1), delay="5 microseconds"), late="divert").local()
    run.push("P", [price(6, 1.0)])
    run.push("O", [order(10)])
    assert run.push("O", [order(20)])["price"].to_pylist() == [1.0]
    run.push("P", [price(16, 2.0), price(14, 3.0)])
    assert run.late["reason"].to_pylist() == ["late"]
    assert run.close()["price"].to_pylist() == [2.0]


def test_conditions_judge_the_version_that_is_valid() -> None:
    run = join(versions(), "O.sku = P.sku AND NOT P.gone AND O.n <= P.price").local()
    run.push("P", [price(1, 5.0), price(4, 5.0, gone=True), price(8, 2.0)])
    assert run.push("O", [order(2), order(5), order(9), order(9, n=3)])["price"].to_pylist() == [5.0, None]
    assert run.close()["price"].to_pylist() == [2.0, None]


def test_what_is_kept_is_the_valid_version_of_each_key() -> None:
    run = join(versions()).local()
    for at in range(0, 20_000, 200):
        run.push("P", [price(at + sku, 1.0, sku) for sku in range(200)])
        run.push("O", [order(at + 100)])
    assert run.metrics()["streams"]["P"]["stored"] <= 600


def test_text_joins_tables_like_streams() -> None:
    table = dv.table("Prices", pa.table(ROWS), key="sku")
    stream = dv.stream("Orders", time="ts", schema=ORDERS)
    for words, expected in [("JOIN", [9.5]), ("LEFT JOIN", [9.5, None])]:
        query = dv.sql(f"SELECT P.price FROM Orders O {words} Prices P ON O.sku = P.sku", stream, table)
        assert query.local().push("O", [order(1), order(2, 9)])["price"].to_pylist() == expected


def test_text_joins_several_tables_each_by_its_word() -> None:
    one, two = (dv.table(name, pa.table(ROWS), key="sku") for name in ("One", "Two"))
    stream = dv.stream("Orders", time="ts", schema=ORDERS)
    for first, second, expected in [
        ("LEFT JOIN", "LEFT JOIN", [(9.5, 9.5), (None, None)]),
        ("LEFT JOIN", "JOIN", [(9.5, 9.5)]),
    ]:
        text = f"FROM Orders O {first} One ON O.sku = One.sku {second} Two ON O.sku = Two.sku"
        query = dv.sql(f"SELECT One.price AS one, Two.price AS two {text}", stream, one, two)
        rows = query.local().push("O", [order(1), order(2, 9)])
        assert list(zip(rows["one"].to_pylist(), rows["two"].to_pylist(), strict=True)) == expected
    with pytest.raises(dv.QueryError, match="an as-of join answers the rows of one stream"):
        dv.sql(
            "SELECT O.sku FROM Orders O FULL JOIN One ON O.sku = One.sku LEFT JOIN Two ON O.sku = Two.sku",
            stream,
            one,
            two,
        )
    with pytest.raises(dv.QueryError, match="the rows of 'O' are those that are answered: name it first in FROM"):
        dv.sql(
            "SELECT O.sku FROM One LEFT JOIN Orders O ON O.sku = One.sku JOIN Two ON O.sku = Two.sku", stream, one, two
        )


def test_collect_loads_tables_first() -> None:
    rows = pa.Table.from_pylist([order(at, at % 3 + 6) for at in range(10)], ORDERS)
    query = dv.join(dv.stream("O", rows, time="ts"), dv.table("P", pa.table(ROWS), key="sku"), on="O.sku = P.sku")
    assert query.collect().num_rows == 6


def test_a_memory_budget_refuses_what_does_not_fit() -> None:
    query = join(versions(), budget=dv.budget(memory=dv.tuples(3), policy="fail"))
    run = query.local()
    run.push("P", [price(1, 1.0, 1), price(1, 1.0, 2), price(1, 1.0, 3)])
    with pytest.raises(dv.BudgetError, match=r"from 3 to about 4, and the budget is .* Nothing has changed"):
        run.push("P", [price(2, 1.0, 4)])
    assert run.metrics()["memory"] == {"policy": "fail", "limit": 3, "held": 3}


def test_versions_are_forgotten_when_their_time_is_over() -> None:
    query = join(versions(ttl="5 microseconds"))
    run = query.local()
    run.push("P", [price(1, 1.0, 1), price(4, 2.0, 2)])
    run.advance("P", 100)
    assert run.push("O", [order(6, 1), order(7, 1), order(7, 2)])["price"].to_pylist() == [1.0, None, 2.0]
    run.advance("O", 100)
    assert run.metrics()["streams"]["P"]["stored"] == 0
    assert "of each key the version that is valid, for 5 microseconds, and what is newer" in query.explain()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: dv.table("P", pa.table(ROWS), key=()), "table 'P' has no key; say with key="),
        (lambda: dv.table("P", pa.table(ROWS), key="skuu"), "table 'P' has no column 'skuu' for its key.*Did you mean"),
        (lambda: dv.table("P", key="sku", schema=PRICES), "table 'P' has no time=, so its rows are valid at all times"),
        (
            lambda: dv.table("P", pa.table(ROWS), key="sku", ttl="1 day"),
            "is how long a version is valid; say from when",
        ),
        (lambda: versions(ttl="-1 day"), "table 'P': ttl '-1 day' is negative; a duration is zero or more"),
        (lambda: dv.table("P", pa.table(ROWS)), "table 'P' has no key; say with key="),
        (lambda: dv.table("P", pa.table(ROWS), key=ODD), "table 'P': key=3: name a column, or several in a list"),
        (lambda: dv.table("P", pa.table(ROWS), key="sku", ready="2026-07-01"), "is loaded before the first row. Leave"),
        (lambda: versions(ready="soon"), "table 'P': ready='soon': give a datetime, or text like"),
        (lambda: versions(ready=datetime(2026, 1, 1, tzinfo=UTC)), "with a zone if the table's times have one"),
        (lambda: join(versions(), "O.n = P.price"), "table 'P' has the key sku, and no condition ties 'sku' to 'O'"),
        (lambda: dv.join(versions(), dv.table("Q", pa.table(ROWS), key="sku"), on="P.sku = Q.sku"), "none is left"),
        (lambda: orders(match="best"), "stream 'O'.*match.*'best'"),
        (lambda: dv.join(orders(window="1 minute"), versions(), on="O.sku = P.sku"), "an as-of join has none"),
    ],
)
def test_mistakes_are_found_when_it_is_built(make: Any, sentence: str) -> None:
    with pytest.raises(dv.DovetailError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("windows", "match", "sentence"),
    [
        (("1 minute", None), "first", "stream 'B' has no window, and match= needs a time window"),
        (("1 minute", "5 seconds"), "nearest", "match='nearest' needs windows of one length"),
        ((dv.rows(3), "5 seconds"), "last", "stream 'A' has a window of 3 rows, and match= needs"),
    ],
)
def test_matches_need_windows_of_time(windows: Any, match: Any, sentence: str) -> None:
    a = dv.stream("A", time="ts", window=windows[0], schema=ORDERS)
    b = dv.stream("B", time="ts", window=windows[1], schema=ORDERS, match=match)
    with pytest.raises(dv.QueryError, match=sentence):
        dv.join(a, b, on="A.sku = B.sku")
    with pytest.raises(dv.QueryError, match="match= is for all streams of a join but one"):
        dv.join(b, dv.stream("C", time="ts", schema=ORDERS, match="first"), on="B.sku = C.sku", window="1 second")


PIPELINE = """
CREATE STREAM Orders (sku BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (format = 'parquet', path = 'in/orders', dedup = 'sku', match = 'first');
CREATE TABLE Places (sku BIGINT, city STRING, PRIMARY KEY (sku)) WITH (format = 'parquet', path = 'in/places');
CREATE TABLE Prices (
    sku BIGINT, price DOUBLE, since TIMESTAMP, PRIMARY KEY (sku), WATERMARK FOR since AS since - INTERVAL '5' SECOND
) WITH (format = 'parquet', path = 'in/prices', ready = '2026-07-01 00:00:00+00:00', ttl = '1 day');
CREATE SINK found WITH (format = 'console');
INSERT INTO found
SELECT O.sku, P.price, L.city FROM Orders O JOIN Prices P ON O.sku = P.sku JOIN Places L ON O.sku = L.sku;
"""


def test_pipeline_files_declare_tables() -> None:
    streams, places, prices = parse_pipeline(PIPELINE).streams
    assert (streams.dedup, streams.match) == (("sku",), "first")
    assert (places.key, places.time, places.ready) == (("sku",), "", None)
    assert (prices.key, prices.time, prices.delay_us) == (("sku",), "since", 5_000_000)
    assert (prices.ready, prices.ttl_us) == ("2026-07-01 00:00:00+00:00", 86_400_000_000)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("PRIMARY KEY (sku)) WITH", "n INT) WITH", r"expected PRIMARY KEY \(<column>, ...\)"),
        ("PRIMARY KEY (sku)) WITH", "PRIMARY KEY (skuu)) WITH", "there is no column 'skuu'"),
        ("path = 'in/places'", "path = 'in/places', dedup = 'sku'", "dedup is not an option: it is for a stream"),
        ("match = 'first'", "ready = '2026-01-01'", "ready is not an option: it is for a table"),
        ("dedup = 'sku'", "dedup = 'id'", "dedup there is no column 'id'"),
    ],
)
def test_mistakes_in_pipeline_files(old: str, new: str, sentence: str) -> None:
    with pytest.raises(dv.QueryError, match=sentence):
        parse_pipeline(PIPELINE.replace(old, new, 1))
