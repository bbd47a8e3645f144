"""Many queries on Spark: each gets what it gets alone, into its own sink, exactly once, also when the set changes."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, assert_subset, oracle, ordered
from tests.properties.shared_queries import rows_of
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA

ON = "A.k = B.k"
QUERIES: dict[str, dict[str, Any]] = {
    "near": {"window": "1 second", "select": "A.row AS a, B.row AS b"},
    "far": {"window": "4 seconds", "select": "A.row AS a, B.row AS b, A.x + 1 AS x", "order": "hold"},
    "some": {"window": "3 seconds", "where": "A.n > 20 AND B.x > 0", "select": "A.row AS a, B.g AS g"},
    "sync": {"window": "2 seconds", "where": "A.n > 20", "select": "A.row AS a, B.row AS b", "order": "sync"},
    "left": {"window": "2 seconds", "where": "A.n > 20", "select": "A.row AS a, B.row AS b", "how": "left"},
    "semi": {"window": "1 second", "select": "A.row AS a", "how": "semi", "order": "hold"},
    "each": {"window": "1 second", "select": "A.k AS key, COUNT(*) AS n, SUM(B.n) AS total", "by": "GROUP BY A.k"},
    "all": {"window": "2 seconds", "select": "COUNT(*) AS n", "by": ""},
}


def made(name: str, data: dict[str, Any], budget: Any = None) -> dv.Query:
    options = dict(QUERIES[name], budget=budget)
    where = options.pop("where", None)
    streams = [dv.stream(each, frame, time="ts", delay="3 seconds") for each, frame in data.items()]
    if "by" in options:
        text = f"SELECT {options['select']} FROM A, B WHERE {ON} {options['by']}"
        return dv.sql(text, *streams, window=options["window"], partitions=2, budget=budget).named(name)
    return dv.join(*streams, on=f"{ON} AND {where}" if where else ON, partitions=2, **options).named(name)


def bare(name: str) -> dv.Query:
    return made(name, {each: SCHEMA.empty_table() for each in "AB"})


def run(folder: Folder, *names: str, sinks: dict[str, Any] | None = None, budget: Any = None) -> None:
    shared = dv.share(*(made(name, folder.frames(), budget) for name in names))
    into = {name: str(folder.path / name) for name in names} | (sinks or {})
    shared.write(into, str(folder.path / "checkpoint"), trigger={"availableNow": True}).awaitTermination()


def written(folder: Folder, name: str) -> pa.Table:
    """The rows of a query, batch by batch."""
    query, parts = bare(name), []
    batches = sorted((folder.path / name).glob("batch=*"), key=lambda path: int(path.name.partition("=")[2]))
    schema = made(name, folder.frames()).spark().schema
    for batch in batches:
        rows = folder.spark.read.schema(schema).parquet(str(batch)).toArrow()
        parts.append(rows.cast(query.schema))
    return pa.concat_tables(parts)


def test_each_query_gets_what_it_gets_alone_across_a_restart(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=3, batches=4)
    told: list[int] = []
    sinks = {"near": lambda rows, batch: told.append(rows.count())}
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        run(folder, *QUERIES, sinks=sinks)
    for name in ("far", "some", "sync", "left", "semi", "each", "all"):
        rows, alone = written(folder, name), bare(name).local()
        expected = [alone.push(each, table) for push in batches for each, table in push.batch.items()]
        assert_same_rows(rows, pa.concat_tables(expected))
        assert QUERIES[name].get("order", "none") == "none" or ordered(rows)
        assert rows.num_rows
    assert sum(told) == oracle(bare("near").model, batches).rows.num_rows


def test_a_changed_set_resumes_from_the_same_checkpoint(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=5, batches=4)
    folder.feed(batches[:2])
    run(folder, "near", "some")
    folder.feed(batches[2:])
    run(folder, "near", "far")
    assert_same_rows(written(folder, "near"), oracle(bare("near").model, batches).rows)
    assert_same_rows(written(folder, "some"), oracle(bare("some").model, batches[:2]).rows)
    everything, earlier = (oracle(bare("far").model, told).rows for told in (batches, batches[:2]))
    late, known = written(folder, "far"), {tuple(row.items()) for row in earlier.to_pylist()}
    assert late.num_rows
    assert_subset(late, everything)
    assert not [row for row in late.to_pylist() if tuple(row.items()) in known]


def test_a_batch_that_failed_half_way_is_written_once(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=7, batches=2)
    folder.feed(batches)
    told: list[int] = []
    failing = {"near": lambda rows, batch: told.append(batch), "some": lambda rows, batch: 1 / 0}
    with pytest.raises(Exception, match="ZeroDivisionError"):
        run(folder, "near", "far", "some", sinks=failing)
    assert told == [0]
    run(folder, "near", "far", "some", sinks={"near": lambda rows, batch: told.append(batch)})
    assert told == [0, 1], "the first was done before the failure, and was not repeated"
    assert_same_rows(written(folder, "some"), oracle(bare("some").model, batches).rows)
    rows = written(folder, "far")
    assert len(set(zip(rows["a"].to_pylist(), rows["b"].to_pylist(), strict=True))) == rows.num_rows


def test_a_driver_that_dies_before_the_note_repeats_the_batch_with_its_number_and_rows(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=7, batches=4)
    folder.feed(batches)
    told: list[tuple[int, list[Any]]] = []
    sinks = {"near": lambda rows, batch: told.append((batch, sorted(map(tuple, rows.collect()))))}
    with monkeypatch.context() as patched:
        patched.setattr("dovetail.runtime.spark.sinks._note", lambda *_: 1 / 0)
        with pytest.raises(Exception, match="ZeroDivisionError"):
            run(folder, "near", "some", sinks=sinks)
    run(folder, "near", "some", sinks=sinks)
    assert [batch for batch, _ in told] == [0, 0, 1, 2, 3]
    assert told[0] == told[1]
    assert sum(len(rows) for _, rows in told[1:]) == oracle(bare("near").model, batches).rows.num_rows
    assert_same_rows(written(folder, "some"), oracle(bare("some").model, batches).rows)
    (marks,) = (tmp_path / "checkpoint" / "sinks").iterdir()
    assert sorted(path.name for path in marks.iterdir()) == ["0", "1"], "however many batches there were"


def test_static_inputs_give_a_static_frame_with_the_query_first(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=9, batches=2)
    folder.feed(batches)
    queries = [made(name, folder.frames(streaming=False)) for name in QUERIES]
    shared = dv.share(*queries)
    frame = shared.spark()
    assert frame.columns[:2] == ["query", "result_time"]
    assert not frame.isStreaming
    everything = {name: pa.concat_tables([p.batch[name] for p in batches if name in p.batch]) for name in "AB"}
    rows = frame.toArrow()
    for query in queries:
        assert_same_rows(rows_of(rows, query), oracle(bare(str(query.name)).model, [Push(everything)]).rows)


def test_a_condition_that_all_have_on_a_column_that_none_selects(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=11, batches=2)
    folder.feed(batches)
    spark_data, bare_data = folder.frames(), {each: SCHEMA.empty_table() for each in "AB"}
    near, far = ([_positive(data, w) for data in (spark_data, bare_data)] for w in ("1 second", "4 seconds"))
    sinks = {str(each.name): str(tmp_path / f"out {at}") for at, each in enumerate((near[0], far[0]))}
    running = dv.share(near[0], far[0]).write(sinks, str(tmp_path / "checkpoint"), trigger={"availableNow": True})
    running.awaitTermination()
    for (name, path), query in zip(sinks.items(), (near[1], far[1]), strict=True):
        rows = spark.read.parquet(path).select("result_time", "a", "b").toArrow().cast(query.schema)
        assert rows.num_rows, name
        assert_same_rows(rows, oracle(query.model, batches).rows)


def _positive(data: dict[str, Any], window: str) -> dv.Query:
    streams = [dv.stream(each, frame, time="ts", delay="3 seconds") for each, frame in data.items()]
    on, select = "A.x > 0 AND A.k = B.k", "A.row AS a, B.row AS b"
    return dv.join(*streams, on=on, select=select, window=window).named(window)


def test_every_query_has_a_sink(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    shared = dv.share(*(made(name, folder.frames()) for name in ("near", "far")))
    with pytest.raises(dv.QueryError, match="query 'far' has no sink"):
        shared.write({"near": "x"}, str(tmp_path / "c"))
    with pytest.raises(dv.QueryError, match=r"no query 'fra'; .*Did you mean 'far'"):
        shared.write({"near": "x", "far": "y", "fra": "z"}, str(tmp_path / "c"))
