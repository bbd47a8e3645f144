"""The plan for the first results of tables: what is read first, by the predicted work until there are so many."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.plan.cost import Weights
from dovetail.plan.first_results import choose_first
from dovetail.runtime import first_rows, local
from dovetail.runtime.first_rows import ways_to_first
from dovetail.testing import assert_same_rows


@pytest.fixture(autouse=True)
def typical_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was measured on this machine."""
    monkeypatch.setattr(first_rows, "load_weights", Weights)


def table(rows: int, **keys: int) -> pa.Table:
    """Columns of keys with so many values each, in no order."""
    random = np.random.default_rng(rows)
    columns = {name: random.permutation(np.arange(rows) % values) for name, values in keys.items()}
    return pa.table({"ts": pa.array(range(rows), pa.timestamp("us")), **columns, "v": np.arange(rows)})


def orders_and_customers(**options: Any) -> dv.Query:
    orders, customers = table(60_000, k=50), table(50, k=50)
    streams = [dv.stream("O", orders, time="ts"), dv.stream("C", customers, time="ts")]
    return dv.join(*streams, on="O.k = C.k", select="O.v AS o, C.v AS c", **options)


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, int]]:
    """Rows of each table, piece by piece."""
    seen: list[Mapping[str, int]] = []
    pieces = first_rows.in_growing_pieces

    def counted(*given: Any) -> Iterator[Any]:
        for piece in pieces(*given):
            seen.append({name: rows.num_rows for name, rows in piece.items()})
            yield piece

    monkeypatch.setattr(local, "in_growing_pieces", counted)
    return seen


def read(pieces: list[Mapping[str, int]]) -> int:
    return sum(count for piece in pieces for count in piece.values())


def test_the_plan_for_a_few_is_not_the_one_for_all_and_reads_less(
    joined: list[Mapping[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = orders_and_customers()
    every, few = query.plan_report(), query.plan_report(limit=100)
    assert [each["streams"]["O"]["algorithm"] for each in (every, few)] == ["hash", "scan"]  # nothing looks into O
    assert few["first"]["whole"] == ["C"]
    assert query.collect(limit=100).num_rows == 100
    assert joined == [{"O": 512, "C": 50}]
    joined.clear()
    monkeypatch.setattr(first_rows, "ways_to_first", lambda *_: [])  # as all rows are joined: an equal share of each
    assert query.collect(limit=100).num_rows == 100
    assert read(joined) > 5 * (512 + 50)


def test_few_results_of_two_large_tables_take_a_few_rows_of_both() -> None:
    query, keys = orders_and_customers().model, {"O.k": 10**5, "C.k": 10**5}
    few, many = (choose_first(query, {"O": 10**7, "C": 10**5}, keys, limit, Weights())[0] for limit in (1, 10**6))
    assert few.whole == ()
    assert few.rows == {"C": pytest.approx(10**2.5 / 10), "O": pytest.approx(10**3.5)}
    assert many.whole == ("C",)


def test_of_tables_of_one_size_an_equal_share_is_read(joined: list[Mapping[str, int]]) -> None:
    streams = [dv.stream(name, table(20_000, k=50), time="ts") for name in "AB"]
    assert dv.join(*streams, on="A.k = B.k").collect(limit=100).num_rows == 100
    assert joined == [{"A": 256, "B": 256}]


def test_few_results_come_of_one_operator_and_many_of_a_tree() -> None:
    """A tree makes each pair of A and B once; of few rows there are few pairs, and one operator makes no others."""
    tables = {"A": table(3000, k=3000, j=30), "B": table(3000, k=3000), "C": table(3000, j=30)}
    streams = [dv.stream(name, rows, time="ts") for name, rows in tables.items()]
    query = dv.join(*streams, on="A.k = B.k AND A.j = C.j", select="A.v AS a, B.v AS b, C.v AS c")
    few, most = query.plan_report(limit=10), query.plan_report(limit=10**9)
    assert (few["plan"], most["plan"]) == ("multiway", "((A, B), C)")
    assert most["first"]["rows"] == {"A": 3000, "B": 3000, "C": 3000}
    assert few["first"]["seconds"] < most["first"]["seconds"] / 10
    whole = query.collect()
    assert whole.num_rows == 300_000
    assert_same_rows(query.collect(limit=10**9), whole)
    some = {tuple(row.values()) for row in query.collect(limit=10).to_pylist()}
    assert len(some) == 10
    assert some <= {tuple(row.values()) for row in whole.to_pylist()}


def test_what_is_set_by_hand_stays() -> None:
    query = orders_and_customers(algorithm="sorted", plan="multiway")
    report = query.plan_report(limit=100)
    assert {each["algorithm"] for each in report["streams"].values()} == {"sorted"}
    assert report["first"]["whole"] == ["C"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "  all 50 rows of C, then about 100 rows of O, in pieces that grow"),
        ({"order": "hold"}, "  rows come in order of time, in pieces that grow"),
        ({"window": "1 minute"}, "  rows come in order of time, in pieces that grow"),
        ({"how": "left"}, "  rows come as an equal share of each table, in pieces that grow"),
    ],
)
def test_explain_says_it(options: Any, said: str) -> None:
    text = orders_and_customers(**options).explain(limit=100).splitlines()
    assert text[text.index("the first 100 results") + 1] == said


def test_explain_refuses_a_limit_that_is_none() -> None:
    with pytest.raises(dv.QueryError, match="limit=0: it is a whole number of rows"):
        orders_and_customers().explain(limit=0)


def test_keys_are_counted_in_a_sample() -> None:
    """All values of a few, and about all of those that are seen once."""
    query = orders_and_customers().model
    (best, *_) = ways_to_first(query, 100)
    assert best.known.keys == {"O.k": 50, "C.k": 50}
    streams = [dv.stream(name, table(50_000, k=50_000), time="ts") for name in "AB"]
    (best, *_) = ways_to_first(dv.join(*streams, on="A.k = B.k").model, 100)
    assert 10_000 < best.known.keys["A.k"] <= 50_000


def test_an_empty_table_is_no_error() -> None:
    streams = [dv.stream("A", table(100, k=5), time="ts"), dv.stream("B", table(100, k=5).slice(0, 0), time="ts")]
    query = dv.join(*streams, on="A.k = B.k")
    assert query.collect(limit=5).num_rows == 0
    assert "the first 5 results" in query.explain(limit=5)
