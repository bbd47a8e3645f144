"""Nonsense is refused by the same sentence, whichever way a query is made: join, sql, replace, share or a file."""

import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.cli.pipeline_file import routed
from dovetail.model.stream import Stream
from dovetail.sql import parse_pipeline

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.float64()})
TEXT = "SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 SECOND"
SHEDS = dv.budget(memory=dv.tuples(2))


def streams(names: str = "AB", window: Any = "1 s") -> list[Stream]:
    return [dv.stream(name, time="ts", window=window, schema=SCHEMA) for name in names]


def made(**options: Any) -> dv.Query:
    return dv.join(*streams(), **{"on": "A.k = B.k", "select": "A.k"} | options)


def by_join(option: str, value: Any) -> Any:
    return made(**{option: value})


def by_replace(option: str, value: Any) -> Any:
    return made().replace(**{option: value})


def by_sql(option: str, value: Any) -> Any:
    return dv.sql(TEXT, *streams(window=None), **{option: value})


def by_pipeline(option: str, value: Any) -> Any:
    columns = "ts TIMESTAMP, k BIGINT, WATERMARK FOR ts AS ts"
    declared = "".join(f"CREATE STREAM {name} ({columns}) WITH (format = 'csv', path = 'x'); " for name in "AB")
    return routed(parse_pipeline(f"{declared} INSERT INTO o WITH (format = 'noop', {option} = '{value}') {TEXT}"))


WAYS: dict[str, Callable[[str, Any], Any]] = {"join": by_join, "replace": by_replace, "sql": by_sql}

NONSENSE: list[tuple[str, Any, str]] = [
    ("order", "bogus", "order='bogus': it is one of 'none', 'sync', 'hold', 'adaptive'"),
    ("order", None, "order=None: it is one of 'none', 'sync', 'hold', 'adaptive'"),
    ("late", "x", "late='x': it is one of 'drop', 'keep', 'divert'"),
    ("late", [], "late=[]: it is one of 'drop', 'keep', 'divert'"),
    ("invalidation", 5, "invalidation=5: it is one of 'auto', 'active', 'lazy'"),
    (
        "plan",
        7,
        "plan: 7 is not a plan; give 'auto', 'multiway', 'binary', or a nesting of two parts or more, like "
        "(('A', 'B'), 'C')",
    ),
    ("plan", "tree", "plan='tree': it is one of 'auto', 'multiway', 'binary'"),
    ("plan", ("A", "Q"), "plan=('A', 'Q'): the query has no stream 'Q'; it has: A, B."),
    ("plan", ("A", "A"), "plan=('A', 'A'): name each of A, B exactly once"),
    ("partitions", -1, "partitions=-1: it is a whole number, 1 or more, or None to let the session decide"),
    ("partitions", True, "partitions=True: it is a whole number, 1 or more, or None to let the session decide"),
    ("algorithm", "tree", "algorithm='tree': it is one of 'hash', 'scan', 'sorted', 'auto'"),
    ("algorithm", {"Q": "hash"}, "algorithm: the query has no stream 'Q'; it has: A, B."),
    ("algorithm", {5: "hash"}, "algorithm: the query has no stream 5; it has: A, B."),
    ("algorithm", None, "algorithm=None: give 'auto', one of hash, scan, sorted, or one per stream"),
    ("budget", 0.5, "budget=0.5: make one with dovetail.budget(cpu=..., memory=...)"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("option", "value", "message"), NONSENSE)
def test_the_same_sentence_from_every_way_in(way: str, option: str, value: Any, message: str) -> None:
    with pytest.raises(dv.QueryError) as caught:
        WAYS[way](option, value)
    assert str(caught.value) == message


WORDS = [each for each in NONSENSE if isinstance(each[1], str) and each[0] != "late"]  # what a text can say
WORDS += [("late", "x", "late='x': it is one of 'drop', 'keep'")]  # a pipeline has no place for diverted rows


@pytest.mark.parametrize(("option", "value", "message"), WORDS)
def test_a_pipeline_file_says_the_same_at_its_place(option: str, value: str, message: str) -> None:
    with pytest.raises(dv.QueryError) as caught:
        by_pipeline(option, value)
    assert message in str(caught.value)


@pytest.mark.parametrize("way", [by_join, by_replace])
def test_a_kind_of_join_that_there_is_not(way: Callable[[str, Any], Any]) -> None:
    with pytest.raises(dv.QueryError, match="how='zzz': it is one of 'inner', 'left', 'right', 'full', 'semi', 'anti'"):
        way("how", "zzz")


WRONG_TOGETHER = (
    "how='left' and budget='memory harvest' do not go together: what is left out would make another row wrong, for "
    "which it was a partner or was counted. Take policy='spill' or 'fail'."
)


@pytest.mark.parametrize(
    "build",
    [
        lambda: made(how="left", budget=SHEDS),
        lambda: made(how="left").replace(budget=SHEDS),
        lambda: made(budget=SHEDS).replace(how="left"),
        lambda: dv.sql(TEXT.replace(", B WHERE", " LEFT JOIN B ON"), *streams(window=None), budget=SHEDS),
    ],
)
def test_results_are_not_left_out_of_an_outer_join(build: Callable[[], Any]) -> None:
    with pytest.raises(dv.QueryError) as caught:
        build()
    assert str(caught.value) == WRONG_TOGETHER


def test_an_outer_join_of_three_streams() -> None:
    three = dv.join(*streams("ABC"), on="A.k = B.k AND B.k = C.k")
    for word in ("left", "full"):
        assert three.replace(how=word).model == three.replace(how={"B": word, "C": word}).model
        assert three.replace(how=word).model.words == {"B": word, "C": word}


@pytest.mark.parametrize(
    "build",
    [
        lambda **options: dv.join(*streams("ABC"), on="A.k = B.k AND B.k = C.k", how="left", **options),
        lambda **options: dv.join(*streams("ABC"), on="A.k = B.k AND B.k = C.k", **options).replace(how="left"),
    ],
)
def test_what_joins_of_one_stream_after_the_other_do_not_go_with(build: Callable[..., Any]) -> None:
    wrong: dict[str, dict[str, Any]] = {
        "how='by stream' and late='keep' do not go together": {"late": "keep"},
        "how='by stream' and budget='memory harvest' do not go together": {"budget": dv.budget(memory="1 GB")},
        "how='by stream' and runs='tree' do not go together": {"plan": "binary"},
    }
    for message, options in wrong.items():
        with pytest.raises(dv.QueryError, match=message):
            build(**options)


def test_words_per_stream_and_row_windows_name_the_nearest_that_works() -> None:
    text = "SELECT A.k FROM A LEFT JOIN B ON A.k = B.k LEFT JOIN C ON A.k = C.k"
    with pytest.raises(dv.QueryError, match=r"how='by stream' and windows='rows' .*Give every stream a time window\."):
        dv.sql(text, *streams("ABC", dv.rows(3)))
    assert dv.sql(text, *streams("ABC")).model.words == {"B": "left", "C": "left"}


@pytest.mark.parametrize(
    "build",
    [lambda: made(select="A.k, B.v", how="semi"), lambda: made(select="A.k, B.v").replace(how="semi")],
)
def test_a_semi_join_has_only_the_rows_of_its_first_stream(build: Callable[[], Any]) -> None:
    with pytest.raises(dv.QueryError, match="the rows of 'B' are not in the result of this join; only those of 'A'"):
        build()


PARTS: list[tuple[dict[str, Any], str]] = [
    ({"predicates": ()}, "no predicate ties 'A' to 'B'. Add one, or write on='TRUE' to join every combination"),
    ({"predicates": None}, "predicates=None: a query keeps it bound; to state it as text make the query anew with"),
    ({"filters": [5]}, r"filters=\[5\]: a query keeps it bound"),
    ({"select": "A.k"}, "select='A.k': a query keeps it bound; to state it as text make the query anew with"),
    ({"aggregation": 5}, "aggregation=5: a query keeps it bound"),
    ({"streams": ()}, "join: needs two streams or more, got 0"),
    ({"streams": 5}, "streams=5: they are a tuple of streams"),
    ({"streams": (5, 6)}, r"join: 5 is not a stream; make one with dovetail.stream\(...\)"),
    ({"streams": tuple(streams("AC"))}, "there is no stream 'B'; the query has: A, C."),
    ({"on": "TRUE"}, "on= is what a query is made with"),
    ({"window": "5 s"}, "window= is what a query is made with"),
    ({"ordr": "sync"}, "a query has no option 'ordr'; it has: how, order, .* Did you mean 'order'?"),
]


@pytest.mark.parametrize(("changes", "message"), PARTS)
def test_bound_parts_are_checked_as_well(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(dv.QueryError, match=message):
        made().replace(**changes)


@pytest.mark.parametrize("how", ["inner", "semi"])
def test_aggregates_stay_with_the_windows_they_were_made_for(how: str) -> None:
    counted = made(select="COUNT(*) AS n", how=how)
    other = {"how": "semi" if how == "inner" else "inner"}
    for changes in (other, {"streams": tuple(streams(window="9 s"))}):
        with pytest.raises(dv.QueryError):
            counted.replace(**changes)


def test_every_combination_stays_asked_for() -> None:
    assert made(on="TRUE").replace(order="sync").model.cross


@pytest.mark.parametrize("way", WAYS)
def test_words_mean_the_same_in_every_way(way: str) -> None:
    assert WAYS[way]("order", "adaptive").model.order == dv.adaptive()
    assert WAYS[way]("algorithm", "hash").model.algorithm == {"A": "hash", "B": "hash"}
    assert WAYS[way]("plan", ["A", "B"]).model.plan == ("A", "B")


def test_aggregates_are_of_results_in_order_also_after_a_change() -> None:
    assert made(select="COUNT(*) AS n", order="sync").replace(order="none").model.order == "hold"


def test_a_misspelt_option_of_join() -> None:
    with pytest.raises(dv.QueryError, match=r"a query has no option 'ordr'; it has: on, .* Did you mean 'order'\?"):
        made(ordr="sync")


SHARED: dict[str, Callable[[], Any]] = {
    "share: got a int; give queries made with dovetail.join or dovetail.sql": lambda: 5,
    "share: got a NoneType; give queries made with dovetail.join or dovetail.sql": lambda: None,
}


@pytest.mark.parametrize("message", SHARED)
def test_a_shared_run_refuses_what_share_refuses(message: str) -> None:
    with pytest.raises(dv.QueryError) as together:
        dv.share(made(), SHARED[message]())
    run = dv.share(made()).local()
    with pytest.raises(dv.QueryError) as added:
        run.add(SHARED[message]())
    assert str(together.value) == str(added.value) == message


def test_a_schedule_that_there_is_not() -> None:
    with pytest.raises(dv.QueryError, match="schedule='best': it is one of 'greedy', 'smallest', 'largest'"):
        dv.share(made(), schedule="best")


def test_the_plan_of_a_query_is_made_once() -> None:
    query = made()
    assert query.plan is query.plan


def test_a_query_is_a_value_that_can_be_pickled() -> None:
    model = made(algorithm="hash", order="adaptive", budget=dv.budget(cpu=0.5)).model
    assert pickle.loads(pickle.dumps(model)) == model
    with pytest.raises(AttributeError):
        model.order = "none"  # type: ignore[misc]
