"""Which queries share an operator: what is pulled up, what stays below, who runs alone, and what is refused."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.control.schedule import MOST_STAGES, nested_stages, schedule_windows
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_cost import READ_ON_SPARK, better_alone
from dovetail.plan.share_queries import Member, share_plan

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64(), "s": pa.string()})


def query(name: str = "q", window: Any = "1 minute", on: str = "A.k = B.k", **options: Any) -> dv.Query:
    a, b = (dv.stream(each, time="ts", window=window, schema=SCHEMA) for each in "AB")
    return dv.join(a, b, on=on, **{"select": "A.v"} | options).named(name)


def tree(name: str) -> dv.Query:
    streams = [dv.stream(each, time="ts", window="1 minute", schema=SCHEMA) for each in "ABC"]
    return dv.join(*streams, on="A.k = B.k AND B.k = C.k", select="A.v", plan=(("A", "B"), "C")).named(name)


def members(*queries: dv.Query) -> list[Member]:
    return [Member(str(each.name), each.model) for each in queries]


def test_common_conditions_stay_below_and_others_are_pulled_up() -> None:
    one = query("one", on="A.k = B.k AND A.v > 1 AND B.s = 'x'")
    other = query("other", "5 minutes", on="B.s = 'x' AND B.k = A.k")
    union = share_plan(members(one, other)).plan.query
    assert [str(condition) for _, condition in union.filters] == ["eq(B.s, 'x')"]
    assert {str(stream.window) for stream in union.streams} == {"5 minutes"}
    assert {output.name for output in union.select} == {"A.v"}
    assert len(Groups.of(members(one, other)).plans) == 1


@pytest.mark.parametrize(
    "other",
    [
        query("b", window=dv.rows(5)),
        query("b", on="A.v = B.v"),
        query("b", late="keep"),
        query("b", algorithm="scan"),
    ],
)
def test_what_cannot_be_one_operator_gets_its_own(other: dv.Query) -> None:
    assert len(Groups.of(members(query("a"), other)).plans) == 2


def test_a_large_window_of_few_tuples_runs_alone_and_explain_says_so() -> None:
    rare = query("rare", "1 day", on="A.k = B.k AND A.s = 'x' AND B.s = 'x'")
    shared = dv.share(query("near", "1 second"), query("far", "1 minute"), rare)
    text = shared.explain()
    assert "3 queries, 2 operators, schedule greedy" in text
    assert "one operator for near, far" in text
    assert "rare runs alone: predicted " in text
    pushed = text[text.index("rare runs alone") :]
    assert "only if eq(A.s, 'x')" in pushed, "its conditions are below the join again"


def test_a_large_window_without_conditions_shares() -> None:
    assert len(dv.share(query("near", "1 minute"), query("far", "1 hour")).groups.plans) == 1


def test_a_tiny_window_beside_endless_matches_runs_alone() -> None:
    big = [query(f"big {at}", f"{at} days") for at in (10, 11, 12)]
    groups = dv.share(query("tiny", "1 ms"), *big).groups
    assert list(groups.verdicts) == ["tiny"]


def test_a_very_selective_condition_beside_many_matches_runs_alone_and_explain_says_so() -> None:
    every = [query(f"every {at}", "1 hour") for at in range(2)]
    some = query("some", "1 hour", on="A.k = B.k AND A.v > 7")
    few = query("few", "1 hour", on="A.k = B.k AND A.s = 'x' AND B.s = 'x'")
    groups = dv.share(*every, some, few).groups
    assert list(groups.verdicts) == ["few"]
    assert (
        "few runs alone: predicted 24 us of work per second, and 145 more in the group"
        in dv.share(*every, some, few).explain()
    )


def test_a_selective_condition_that_all_have_stays_below_and_parts_nobody() -> None:
    on = "A.k = B.k AND A.s = 'x' AND B.s = 'x'"
    groups = dv.share(*(query(f"q{at}", f"{at} hours", on=on) for at in range(1, 9))).groups
    assert len(groups.plans) == 1


def test_a_query_that_joins_a_run_is_put_where_it_costs_less() -> None:
    run = dv.share(query("near", "1 second"), query("far", "1 minute")).local()
    run.add(query("rare", "1 day", on="A.k = B.k AND A.s = 'x' AND B.s = 'x'"))
    run.add(query("more", "30 seconds"))
    assert [len(each.queries) for each in run.operator.statistics()] == [3, 1]


def test_a_query_that_joins_a_run_is_judged_by_what_was_measured() -> None:
    """Assumed matches put it alone (above); where hardly anything matches it costs less in the group."""
    run = dv.share(query("near", "1 second"), query("far", "1 minute")).local()
    for second in range(0, 40, 2):
        for at, name in enumerate("AB"):
            times = np.arange(2000) * 1000 + second * 1_000_000
            rows = {"ts": times, "k": times * 2 + at, "v": times, "s": ["y"] * 2000}
            run.push(name, pa.table(rows).cast(SCHEMA))
    (known,) = run.operator.measured().values()  # type: ignore[attr-defined]
    assert all(500 < rate < 2000 for rate in known.rates.values()), known
    assert known.match == 0
    run.add(query("rare", "1 day", on="A.k = B.k AND A.s = 'x' AND B.s = 'x'"))
    assert [len(each.queries) for each in run.operator.statistics()] == [3]


def test_reading_everything_once_more_makes_fewer_queries_better_alone() -> None:
    few = query("few", "1 hour", on="A.k = B.k AND A.s = 'x' AND B.s = 'x'")
    rare = query("rare", "1 day", on="A.k = B.k AND A.s = 'x' AND B.s = 'x'")
    every = query("every", "1 hour")
    assert list(better_alone(members(every, few, rare))) == ["rare", "few"]
    assert list(better_alone(members(every, few, rare), READ_ON_SPARK)) == ["rare"]


def test_conditions_above_the_join_are_named() -> None:
    text = dv.share(query("a", on="A.k = B.k AND A.v > 7"), query("b")).explain()
    assert "  a: windows A 1 minute, B 1 minute, above the join gt(A.v, 7), order none" in text


def test_schedules_have_stages_of_nested_windows() -> None:
    queries = [query(str(seconds), f"{seconds} seconds") for seconds in (60, 10, 12)]
    greedy = schedule_windows(share_plan(members(*queries), schedule="greedy"))
    assert [stage["A"] // 10**6 for stage in greedy.stages] == [10, 12, 60]
    assert greedy.urgency == (1, 0, 2)
    assert greedy.early
    smallest = schedule_windows(share_plan(members(*queries), schedule="smallest"))
    assert (smallest.urgency, smallest.early) == ((0, 1, 2), False)
    assert len(schedule_windows(share_plan(members(*queries), schedule="largest")).stages) == 1


def test_a_thousand_windows_are_a_few_stages() -> None:
    stages = nested_stages([{"A": size, "B": 1000 - size} for size in range(1000)])
    assert len(stages) == MOST_STAGES
    assert stages[-1] == {"A": 999, "B": 1000}
    assert all(before["A"] <= after["A"] for before, after in pairwise(stages))


REFUSED = {
    "nothing": ((), "share: got nothing; give queries"),
    "text": (("A",), "share: got a str; give queries"),
    "names": ((query("a"), query("a")), "two queries are named 'a'; give each its own name"),
    "columns": (
        (query("a"), query("b", select="A.s AS v")),
        "column 'v' is int64 in query 'a' and string in query 'b'",
    ),
    "tree": (
        (query("a"), tree("b")),
        "query 'b': runs='shared tree' is not possible: queries that share are one operator, of which each takes its "
        "own results, and a tree has several. Leave out plan=, take plan='multiway', or let it run alone.",
    ),
    "taken": ((query("a", select="A.v AS query"),), "query 'a' selects a column 'query', which is taken"),
}


@pytest.mark.parametrize(("queries", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(queries: tuple[Any, ...], message: str) -> None:
    with pytest.raises(dv.QueryError) as caught:
        dv.share(*queries)
    assert message in str(caught.value)


def test_streams_of_one_name_must_be_the_same() -> None:
    other = query("b")
    delayed = replace(other.model, streams=tuple(replace(each, delay_us=5) for each in other.model.streams))
    with pytest.raises(dv.QueryError, match="query 'b' has another stream 'A'"):
        dv.share(query("a"), dv.Query(delayed, "b"))


def test_an_unknown_schedule_is_refused() -> None:
    with pytest.raises(dv.QueryError, match="schedule='best': it is one of 'greedy', 'smallest', 'largest'"):
        dv.share(query(), schedule="best")


def test_an_unknown_query_cannot_leave() -> None:
    run = dv.share(query("near"), query("far")).local()
    with pytest.raises(dv.QueryError, match=r"there is no query 'nera'; .*near"):
        run.remove("nera")


def test_a_snapshot_of_other_streams_is_refused() -> None:
    snapshot = dv.share(query("a")).local().snapshot()
    with pytest.raises(dv.StateError, match="this snapshot belongs to other queries"):
        dv.share(query("a", on="A.v = B.v")).local(snapshot)
