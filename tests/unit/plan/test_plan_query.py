"""One decision at a time: the join graph, algorithms, probe orders, what is stored and what is verified."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.model.ties import connected_components
from dovetail.plan import rules
from dovetail.plan.choose_plan import Planner
from dovetail.plan.choose_probe_order import choose_probe_order
from dovetail.plan.cost import Weights
from dovetail.plan.join_graph import applicable, close_equalities
from dovetail.plan.physical import AnyAccess, BandAccess, KeyAccess, PairAccess, Plan, TimeAccess
from dovetail.plan.plan_query import plan_query, row_group
from dovetail.plan.rules import Draft

SCHEMA = pa.schema(
    {"ts": pa.timestamp("us"), "k": pa.int64(), "s": pa.string(), "x": pa.float64(), "d": pa.decimal128(30, 2)}
)


def plan(names: str, on: str, windows: dict[str, Any] | None = None, **options: Any) -> Plan:
    chosen = dict.fromkeys(names, "1 minute") | (windows or {})
    streams = [dv.stream(name, time="ts", window=chosen[name], schema=SCHEMA) for name in names]
    return dv.join(*streams, **{"on": on, "select": f"{names[0]}.k"} | options).plan


def texts(predicates: Any) -> set[str]:
    return set(map(str, predicates))


def test_equalities_are_closed_under_transitivity() -> None:
    predicates = plan("ABC", "A.k = B.k AND B.k = C.k AND A.x < C.x").query.predicates
    closed = close_equalities(predicates)
    assert texts(closed) == {"A.k = B.k", "A.k = C.k", "B.k = C.k", "A.x - C.x < 0.0"}
    assert texts(applicable(closed, frozenset("A"), "C")) == {"A.k = C.k", "A.x - C.x < 0.0"}


def test_streams_are_grouped_by_what_ties_them() -> None:
    predicates = plan("ABCD", "A.k = B.k AND B.x < C.x AND C.s <> D.s").query.predicates
    assert connected_components("ABCD", predicates) == [set("ABCD")]
    assert connected_components("ABCD", predicates[:1]) == [{"C"}, {"D"}, {"A", "B"}]


def test_the_first_plan_and_those_that_follow_are_made_by_the_same_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    query = plan("AB", "A.k = B.k").query
    known = Statistics({name: StreamStatistics(10.0, 10.0, 1.0, window_s=1.0) for name in "AB"}, {})

    def scanned(draft: Draft) -> Draft:
        return replace(draft, algorithms=dict.fromkeys(draft.query.names, "scan"))

    assert [rule.__name__ for rule in rules.RULES] == ["probe_orders", "structures", "invalidation"]
    monkeypatch.setattr(rules, "RULES", (*rules.RULES, scanned))
    for made in (plan_query(query), Planner(query, Weights()).choose(known)):
        assert {storage.algorithm for storage in made.storage.values()} == {"scan"}


def test_an_arrival_probes_equal_keys_before_bands_before_the_rest() -> None:
    query = plan("ABCD", "A.s <> B.s AND A.x < C.x AND A.k = D.k").query
    predicates = close_equalities(query.predicates)
    assert choose_probe_order("A", query.names, predicates) == ("D", "C", "B")
    assert choose_probe_order("B", query.names, predicates) == ("A", "D", "C")


@pytest.mark.parametrize(
    ("on", "algorithm"),
    [
        ("A.k = B.k", "hash"),
        ("A.x < B.x", "sorted"),
        ("A.s <> B.s", "scan"),
        ("TRUE", "scan"),
        ("A.k = B.k AND A.x < B.x", "hash"),
        ("A.k = B.k AND ABS(A.x - B.x) <= 1", "sorted"),
        ("A.k IS NOT DISTINCT FROM B.k", "hash"),
        ("A.k = B.k OR A.s = B.s", "hash"),
        ("(A.k = B.k OR A.s = B.s) AND A.x < B.x", "hash"),
    ],
)
def test_the_algorithm_follows_the_predicates(on: str, algorithm: str) -> None:
    made = plan("AB", on)
    assert {storage.algorithm for storage in made.storage.values()} == {algorithm}


def test_accesses() -> None:
    made = plan("ABC", "A.k = B.k AND ABS(A.x - C.x) <= 1", algorithm={"B": "scan"})
    (to_b, to_c) = made.probes["A"]
    assert isinstance(to_b.access, KeyAccess)
    assert not to_b.access.indexed
    assert isinstance(to_c.access, BandAccess)
    assert isinstance(plan("AB", "TRUE").probes["A"][0].access, TimeAccess)


def test_an_equality_and_a_band_are_one_search() -> None:
    made = plan("ABC", "A.k = B.k AND ABS(A.x - B.x) <= 1 AND A.s = C.s AND A.x < B.x + C.x")
    level = made.probes["A"][0]
    assert isinstance(level.access, PairAccess)
    assert (level.stream, level.checks) == ("B", ())
    assert made.storage["B"].sorted == (level.access.own,)
    made = plan("AB", "A.s = B.s AND A.k = B.k AND ABS(A.x - B.x) <= 1 AND A.s <> B.s")
    assert texts(made.probes["A"][0].checks) == {"ne(A.s, B.s)"}
    assert texts(made.verify) == {"A.s = B.s", "A.k = B.k"}


def test_one_of_several_equalities_is_a_probe_each_and_then_a_check() -> None:
    made = plan("AB", "(A.k = B.k OR A.s = B.s AND A.x < B.x) AND A.x < B.x")
    level = made.probes["A"][0]
    assert isinstance(level.access, AnyAccess)
    assert level.checks == tuple(made.query.predicates)
    assert made.storage["B"].hashed == tuple(own for own, _ in level.access.options)
    assert isinstance(plan("AB", "A.k = B.k OR A.s = B.s", algorithm="scan").probes["A"][0].access, TimeAccess)


def test_probe_orders_may_be_given() -> None:
    query = plan("ABC", "A.k = B.k AND B.k = C.k").query
    assert [level.stream for level in plan_query(query, {"A": ("C", "B")}).probes["A"]] == ["C", "B"]


def test_only_needed_columns_are_stored_and_the_time_first() -> None:
    assert plan("AB", "A.k = B.k AND A.x > 0").columns == {"A": ("ts", "k", "x"), "B": ("ts", "k")}
    assert plan("AB", "A.k = B.k", late="divert").columns["B"] == ("ts", "k", "s", "x", "d")


@pytest.mark.parametrize(
    ("on", "verified"),
    [
        ("A.k = B.k", set()),
        ("A.s = B.s", {"A.s = B.s"}),
        ("A.d = B.d", {"A.d = B.d"}),
        ("A.k = B.k AND A.x = B.x", {"A.k = B.k", "A.x = B.x"}),
    ],
)
def test_equalities_by_hash_are_verified(on: str, verified: set[str]) -> None:
    assert texts(plan("AB", on).verify) == verified


def test_rows_that_never_match_are_kept_where_they_count() -> None:
    assert not plan("AB", "A.k = B.k").storage["A"].keeps_all
    assert plan("AB", "A.k = B.k", how="left").storage["A"].keeps_all
    assert not plan("AB", "A.k = B.k", how="left").storage["B"].keeps_all
    assert plan("AB", "A.k = B.k", {"B": dv.rows(5)}).storage["B"].keeps_all


def test_a_row_window_per_key_counts_by_all_equality_columns() -> None:
    made = plan("AB", "A.k = B.k AND A.s = B.s AND A.x < B.x", {"A": dv.rows(5, per="key")})
    group = row_group(made.query, "A")
    assert group is not None
    assert [str(side) for side in group.expressions] == ["A.k", "A.s"]
    assert group in made.storage["A"].hashed
    assert row_group(made.query, "B") is None
