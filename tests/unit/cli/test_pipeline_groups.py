"""Which queries of a pipeline file are one join, why others are not, and what their checkpoints make of that."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dovetail.cli import app
from dovetail.cli.pipeline_file import Routed, routed
from dovetail.cli.pipeline_groups import NOBODY, group_name, parts_of
from dovetail.cli.pipeline_starts import starts
from dovetail.errors import StateError
from dovetail.runtime.spark.shared_checkpoint import Past
from dovetail.sql import parse_pipeline

COLUMNS = "(k BIGINT, v DOUBLE, s STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
STREAMS = "".join(f"CREATE STREAM {name} {COLUMNS} WITH (format = 'rate');\n" for name in ("T", "H"))
NEAR = "SELECT T.k FROM T, H WHERE T.k = H.k WINDOW 1 SECOND"
WIDE = "SELECT T.k, H.v FROM T, H WHERE T.k = H.k AND T.v > 40 WINDOW 1 MINUTE"
COUNTED = "SELECT COUNT(*) AS n FROM T, H WHERE T.k = H.k WINDOW 1 SECOND"
ANTI = "SELECT {0}.k FROM {0} LEFT ANTI JOIN {1} ON {0}.k = {1}.k WINDOW 1 SECOND"
ALIASES = "SELECT a.k FROM H b, T a WHERE b.k = a.k WINDOW 2 SECONDS"


def routes(*queries: str, **sinks: str) -> list[Routed]:
    """Queries into sinks s0, s1, ...; keywords change the options of one."""
    inserts = []
    for at, query in enumerate(queries):
        options = sinks.get(f"s{at}", f"format = 'parquet', path = 'out/{at}', checkpoint = 'c{at}'")
        inserts.append(f"INSERT INTO s{at} WITH ({options}) {query};")
    return routed(parse_pipeline(STREAMS + "\n".join(inserts)))


def shared_names(*queries: str, **sinks: str) -> list[str]:
    return [part.name for part in parts_of(routes(*queries, **sinks))]


def test_queries_with_one_join_condition_are_one_join_whatever_their_aliases() -> None:
    assert shared_names(NEAR, "SELECT T.k FROM T, H WHERE T.v = H.v WINDOW 1 SECOND", WIDE, ALIASES) == [
        "s0, s2, s3",
        "s1",
    ]


def test_outer_and_counting_queries_share_with_inner_ones() -> None:
    left = "SELECT T.k FROM T LEFT JOIN H ON T.k = H.k WINDOW 3 SECONDS"
    by_key = "SELECT T.k, COUNT(*) AS n FROM T, H WHERE T.k = H.k GROUP BY T.k WINDOW 1 SECOND"
    assert shared_names(NEAR, left, by_key, ANTI.format("H", "T"), WIDE) == ["s0, s1, s2, s3, s4"]
    members = parts_of(routes(NEAR, left))[0].groups.members
    assert [member.query.how for member in members] == ["inner", "right"], "H comes first"
    assert [member.query.preserved for member in members] == [(), ("T",)]
    assert shared_names(COUNTED, NEAR, COUNTED) == ["s0, s2", "s1"], "one bucket for all results"


def test_a_stream_joined_with_itself_keeps_its_aliases() -> None:
    itself = "SELECT {0}.k FROM T {0}, T {1} WHERE {0}.k = {1}.k WINDOW {2} SECONDS"
    assert shared_names(itself.format("x", "y", 1), itself.format("x", "y", 9), itself.format("p", "q", 9)) == [
        "s0, s1",
        "s2",
    ]


def test_row_windows_keep_the_order_of_their_streams() -> None:
    rows = "SELECT T.k FROM {} WHERE T.k = H.k WINDOW ROWS {}"
    assert shared_names(rows.format("T, H", 5), rows.format("H, T", 5), rows.format("T, H", 9)) == ["s0, s2", "s1"]


MATCH = "ASOF {}JOIN H MATCH_CONDITION (T.ts >= H.ts) ON T.k = H.k"


def test_as_of_joins_share_where_the_same_row_is_the_best(tmp_path: Path) -> None:
    left, some = (
        f"SELECT T.k, H.v FROM T {MATCH.format('LEFT ')}",
        f"SELECT H.v FROM T {MATCH.format('')} WHERE T.v > 9",
    )
    tied = f"SELECT H.s FROM T {MATCH.format('')}"
    assert shared_names(left, NEAR, tied, some) == ["s0, s3", "s1", "s2"], "among equal times H.s would choose another"
    inserts = (f"INSERT INTO s{at} WITH (format = 'noop') {each};" for at, each in enumerate((left, some)))
    assert explained(tmp_path, STREAMS + " ".join(inserts)).startswith(
        "s0 (noop), s1 (noop) share one join\n"
        "  no checkpoint: every run starts afresh\n"
        "  s0: H left, order none\n"
        "  s1: H inner, above the join gt(T.v, 9.0), order none\n"
        "as-of join of 2 streams, one operator"
    )


REASONS = {
    "no other": ((NEAR,), {}, NOBODY),
    "another condition": ((NEAR, "SELECT T.k FROM T, H WHERE T.v = H.v WINDOW 1 SECOND"), {}, NOBODY),
    "another trigger": ((NEAR, WIDE), {"s0": "format = 'noop', checkpoint = 'c', trigger = '9 seconds'"}, NOBODY),
    "late rows": ((NEAR, WIDE), {"s0": "format = 'noop', checkpoint = 'c', late = 'keep'"}, NOBODY),
    "no checkpoint": ((NEAR, WIDE), {"s0": "format = 'noop'"}, NOBODY),
    "sink": ((NEAR, WIDE), {"s0": "format = 'memory'"}, "a sink of format 'memory' is written by a query of its own"),
    "one bucket": ((COUNTED, WIDE), {}, NOBODY),
    "a semi join from the other side": ((ANTI.format("T", "H"), WIDE), {}, NOBODY),
    "taken": (
        ("SELECT T.k AS query FROM T, H WHERE T.k = H.k WINDOW 1 SECOND",),
        {},
        "it selects a column 'query', which shared results have already",
    ),
    "types": (
        ("SELECT T.s AS k FROM T, H WHERE T.k = H.k WINDOW 1 SECOND", NEAR, WIDE),
        {},
        "a column has another type in the query into s1",
    ),
    "cost": (
        ("SELECT T.k FROM T, H WHERE T.k = H.k AND T.s = 'x' AND H.s = 'x' WINDOW 1 DAY", NEAR, WIDE),
        {},
        "it costs less so, predicted 2,444 us of work per second, and 44,916 more in the group",
    ),
}


@pytest.mark.parametrize(("queries", "sinks", "why"), REASONS.values(), ids=REASONS)
def test_why_a_query_runs_by_itself(queries: tuple[str, ...], sinks: dict[str, str], why: str) -> None:
    first = parts_of(routes(*queries, **sinks))[0]
    assert (first.name, first.why) == ("s0", why)


def test_explain_says_who_shares_and_what_each_adds(tmp_path: Path) -> None:
    sink = "WITH (format = 'noop')"
    file = tmp_path / "pipeline.sql"
    file.write_text(f"{STREAMS} INSERT INTO near {sink} {NEAR}; INSERT INTO wide {sink} {WIDE};")
    done = CliRunner().invoke(app, ["explain", str(file)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(
        "near (noop), wide (noop) share one join\n"
        "  no checkpoint: every run starts afresh\n"
        "  near: windows H 1 second, T 1 second, order none\n"
        "  wide: windows H 1 minute, T 1 minute, above the join gt(T.v, 40.0), order none\n"
        "inner join of 2 streams, one operator"
    )


OF_A_SINK = {
    "order = 'sync'": "one operator, order sync",
    "late = 'keep'": "late rows keep",
    "late = 'divert', checkpoint = 'c', late_path = 'l'": "late rows divert",
    "trigger = '3 seconds'": "  a batch every 3 seconds",
    "invalidation = 'lazy'": "forgets what has left when it is probed",
    "partitions = 3": "  3 cells: hash of T.k = H.k (3)",
    "algorithm = 'T scan'": "T: window 1 second, stored as scan",
    "cpu = 0.5": "budget of the whole query: harvest\n  cpu: 50 % of a core, enough for all of it",
    "cpu = 0.00001, policy = 'drop'": "drop\n  cpu: 0.001 % of a core, enough for 0.",
    "memory = '10 MB', policy = 'fail'": "fail\n  memory: 10.0 MB, enough for all",
    "memory = '100 tuples', policy = 'spill'": "100 tuples, enough for 5 % of what windows hold, the rest is joined",
    "memory = '9 kB', policy = 'spill', spill_folder = '/fast'": "  disk: /fast",
    "cpu = 0.5, min_completeness = 0.3": "  completeness: 30 % or more, below it the budget is exceeded",
    "cpu = 0.5, min_completeness = 0.3, strict = true": "  completeness: 30 % or more, below it the run stops",
}
OF_A_STREAM = {
    "idle = '1 minute'": "    silent for 1 minute, it follows the others",
    "ahead = '1 hour'": "    rows more than 1 hour ahead of all others are handed over",
}


def explained(tmp_path: Path, text: str) -> str:
    file = tmp_path / "pipeline.sql"
    file.write_text(text)
    done = CliRunner().invoke(app, ["explain", str(file)])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize(("option", "effect"), OF_A_SINK.items(), ids=OF_A_SINK)
def test_explain_shows_the_effect_of_an_option_of_a_sink(tmp_path: Path, option: str, effect: str) -> None:
    plain, stated = (f"{STREAMS} INSERT INTO s WITH (format = 'noop'{each}) {NEAR};" for each in ("", f", {option}"))
    assert effect not in explained(tmp_path, plain)
    assert effect in explained(tmp_path, stated)


@pytest.mark.parametrize(("option", "effect"), OF_A_STREAM.items(), ids=OF_A_STREAM)
def test_explain_shows_the_effect_of_an_option_of_a_stream(tmp_path: Path, option: str, effect: str) -> None:
    streams = STREAMS.replace("'rate'", f"'rate', {option}")
    assert effect in explained(tmp_path, f"{streams} INSERT INTO s WITH (format = 'noop') {NEAR};")


def test_explain_shows_trees_schedules_and_checkpoints(tmp_path: Path) -> None:
    three = STREAMS + STREAMS.partition(";")[0].replace(" T ", " W ") + ";"
    query = "SELECT T.k FROM T, H, W WHERE T.k = H.k AND H.k = W.k WINDOW 1 SECOND"
    said = explained(tmp_path, f"{three} INSERT INTO s WITH (format = 'noop', plan = '((T, W), H)') {query};")
    assert "2 operators (set by hand)" in said
    assert "  no checkpoint: every run starts afresh" in said
    kept = "format = 'noop', checkpoint = 'c{}', schedule = 'largest'"
    inserts = (f"INSERT INTO s{at} WITH ({kept.format(at)}) {each};" for at, each in enumerate((NEAR, WIDE)))
    said = explained(tmp_path, STREAMS + " ".join(inserts))
    assert "  inside a batch, largest windows first" in said
    assert "afresh" not in said


def started(past: dict[str, Past], *queries: str) -> list[tuple[str, bool, str | None]]:
    found = starts(parts_of(routes(*queries)), lambda checkpoint: past.get(checkpoint, Past()))
    return [(each.part.name, each.shared, each.home) for each in found]


GROUP = group_name(routes(NEAR)[0])


def test_what_is_new_shares_in_the_first_checkpoint() -> None:
    assert started({}, NEAR, WIDE, ALIASES) == [("s0, s1, s2", True, "c0")]
    assert started({}, NEAR) == [("s0", False, None)]


def test_a_query_that_ran_alone_goes_on_alone() -> None:
    assert started({"c0": Past(alone=True)}, NEAR, WIDE, ALIASES) == [("s1, s2", True, "c1"), ("s0", False, None)]


def test_a_join_goes_on_from_its_state_whoever_is_left() -> None:
    kept = Past(home="gone", group=GROUP)
    assert started({"c1": kept}, NEAR, WIDE) == [("s0, s1", True, "gone")]
    assert started({"c0": kept}, NEAR) == [("s0", True, "gone")]
    other = Past(home="other", group=GROUP)
    assert started({"c0": kept, "c2": other}, NEAR, WIDE, ALIASES) == [
        ("s0, s1", True, "gone"),
        ("s2", True, "other"),
    ]


def test_costs_do_not_part_those_that_have_one_state() -> None:
    rare = "SELECT T.k FROM T, H WHERE T.k = H.k AND T.s = 'x' AND H.s = 'x' WINDOW 1 DAY"
    kept = Past(home="c0", group=GROUP)
    assert started({"c0": kept, "c1": kept}, rare, NEAR) == [("s0, s1", True, "c0")]


@pytest.mark.parametrize("query", ["SELECT T.k FROM T, H WHERE T.v = H.v WINDOW 1 SECOND", COUNTED])
def test_a_checkpoint_of_another_join_is_refused(query: str) -> None:
    with pytest.raises(StateError, match="sink 's0': its checkpoint is that of a query over other streams"):
        started({"c0": Past(home="c0", group=GROUP)}, query)
