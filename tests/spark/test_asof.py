"""As-of joins on Spark: tables, streams over restarts, several buckets, a table beside streams, a pipeline's text."""

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA, random_rows

BACKWARD, FORWARD = dv.asof(), dv.asof("forward", tolerance="2 seconds")
NEAREST = dv.asof("nearest", tolerance="1 second", equal=False)
FAR = 500_000_000


def build(on: str, data: dict[str, Any], asof: dict[str, dv.AsOf], **options: Any) -> dv.Query:
    streams = [
        dv.stream(name, frame, time="ts", delay="3 seconds", asof=asof.get(name)) for name, frame in data.items()
    ]
    return dv.join(*streams, on=on, select=", ".join(f"{name}.row AS {name.lower()}" for name in data), **options)


@pytest.mark.parametrize(
    ("on", "asof", "options"),
    [
        ("A.k = B.k", {"B": BACKWARD}, {"how": "left"}),
        ("A.k = B.k AND A.g = B.g AND B.n < 40", {"A": FORWARD}, {"how": "left", "order": "hold"}),
        ("A.k = B.k AND A.x > B.x", {"B": NEAREST}, {}),
        ("ABS(A.x - B.x) <= 0.25", {"B": FORWARD}, {"how": "left"}),
        ("A.k = B.k AND A.g = C.g", {"B": BACKWARD, "C": NEAREST}, {"how": {"B": "left"}}),
    ],
)
def test_static_rows_are_the_oracles(spark: Any, on: str, asof: dict[str, dv.AsOf], options: dict[str, Any]) -> None:
    names = "ABC" if "C" in asof else "AB"
    tables = {name: random_rows(seed, 150, seconds=20) for seed, name in enumerate(names)}
    query = build(on, dict(tables), asof, partitions=4, **options)
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert_same_rows(rows, oracle(query.model, [Push(tables)]).rows)
    assert options.get("order") is None or ordered(rows)


def test_answers_of_streams_come_out_once_in_order_across_restarts(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "ABC")
    far = Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("ABC")})
    batches = [*random_batches("ABC", seed=4, batches=3), far]
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        query = build(
            "A.k = B.k AND A.g = C.g", folder.frames(), {"B": BACKWARD, "C": NEAREST},
            how="left", order="hold", partitions=3,
        )  # fmt: skip
        folder.run(query.spark())
    expected = oracle(query.model, batches).rows
    assert_same_rows(_early(folder.rows(query)), _early(expected))
    assert _early(expected).num_rows > 50


def test_a_table_answers_a_stream(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "A")
    table = random_rows(7, 60, -5, 8)
    batches = random_batches("A", seed=3, batches=3)
    folder.feed(batches)
    query = build("A.g = B.g", {"A": folder.frame("A"), "B": table}, {"B": BACKWARD}, how="left", partitions=2)
    folder.run(query.spark())
    assert_same_rows(folder.rows(query), oracle(query.model, [Push.of("B", table), *batches]).rows)


def test_an_order_holds_across_buckets_and_batches(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    far = Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("AB")})
    batches = [*random_batches("AB", seed=12, batches=3), far]
    folder.feed(batches)
    query = build("A.k = B.k", folder.frames(), {"B": NEAREST}, how="left", order="sync", partitions=4)
    released: list[pa.Table] = []
    writer = query.spark().writeStream.foreachBatch(lambda frame, _: released.append(frame.toArrow()))
    started = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    started.awaitTermination()
    rows = pa.concat_tables(released).cast(query.schema)
    assert ordered(rows)
    assert_same_rows(_early(rows), _early(oracle(query.model, batches).rows))


def test_one_after_the_other_across_restarts(spark: Any, tmp_path: Path) -> None:
    """Each A with the last B, and with the last C of the key that this B has: two joins in one query of Spark's."""
    folder = Folder(spark, tmp_path, "ABC")
    far = Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("ABC")})
    batches = [*random_batches("ABC", seed=4, batches=3), far]
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        frames = folder.frames()
        then = _then(_first(frames).spark(), frames["C"])
        folder.run(then.spark())
    pushed = [Push({name: rows for name, rows in push.batch.items() if name != "C"}) for push in batches]
    both = oracle(_first(folder.frames()).model, pushed).rows.drop_columns(["result_time"])
    third = pa.concat_tables(push.batch["C"] for push in batches if "C" in push.batch)
    expected = oracle(_then(both, third).model, [Push({"AB": both, "C": third})]).rows
    assert_same_rows(_early(folder.rows(then)), _early(expected))
    assert _early(expected).num_rows > 50


def _first(data: dict[str, Any]) -> dv.Query:
    streams = [
        dv.stream(name, data[name], time="ts", delay="3 seconds", asof=BACKWARD if name == "B" else None)
        for name in "AB"
    ]
    select = "A.ts, A.row AS a, B.row AS b, B.g"
    return dv.join(*streams, on="A.k = B.k", select=select, how="left", order="hold", partitions=2)


def _then(both: Any, third: Any) -> dv.Query:
    streams = [
        dv.stream("AB", both, time="ts"),
        dv.stream("C", third, time="ts", delay="3 seconds", asof=BACKWARD),
    ]
    return dv.join(*streams, on="AB.g = C.g", select="AB.a, AB.b, C.row AS c", how="left", partitions=2)


MATCH = "FROM A ASOF {}JOIN B MATCH_CONDITION (A.ts >= B.ts) ON A.k = B.k"
SHARED = {
    "every": f"SELECT A.row AS a, B.row AS b {MATCH.format('LEFT ')}",
    "some": f"SELECT A.x AS x, B.row AS b {MATCH.format('')} WHERE A.n > 20",
    "later": f"SELECT A.row AS a, A.g AS g, B.row AS b {MATCH.format('')}",
}


def test_many_share_one_join_and_others_go_on_from_its_checkpoint(spark: Any, tmp_path: Path) -> None:
    """One that comes with the restart answers the rows that come from then on, over all that is stored."""
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=9, batches=4)
    for part, names in ((batches[:2], ["every", "some"]), (batches[2:], ["every", "later"])):
        folder.feed(part)
        shared = dv.share(*(_member(name, folder.frames()) for name in names))
        assert shared.explain().count("as-of join") == 1, "one operator"
        sinks = {name: str(tmp_path / name) for name in names}
        shared.write(sinks, str(tmp_path / "checkpoint"), trigger={"availableNow": True}).awaitTermination()
    found, alone = (
        {name: each(name) for name in SHARED} for each in (partial(_written, folder), partial(_alone, batches))
    )
    assert_same_rows(found["every"], alone["every"])
    assert_same_rows(found["some"], _alone(batches[:2], "some"))
    own = alone["later"]
    assert_same_rows(found["later"], own.filter(pc.greater_equal(own["a"], 2000)))
    assert min(each.num_rows for each in found.values()) > 10


def _member(name: str, data: dict[str, Any]) -> dv.Query:
    streams = [dv.stream(each, frame, time="ts", delay="3 seconds") for each, frame in data.items()]
    return dv.sql(SHARED[name], *streams, partitions=2).named(name)


def _alone(batches: list[Push], name: str) -> pa.Table:
    """What a query gives by itself, without what only the end would bring."""
    run = _member(name, {each: SCHEMA.empty_table() for each in "AB"}).local()
    return pa.concat_tables(run.push(each, table) for push in batches for each, table in push.batch.items())


def _written(folder: Folder, name: str) -> pa.Table:
    query = _member(name, folder.frames())
    rows = folder.spark.read.schema(query.spark().schema).parquet(str(folder.path / name)).toArrow()
    return rows.select(query.schema.names).cast(query.schema)


def _early(rows: pa.Table) -> pa.Table:
    """Without the rows at the end, which only let the others come out."""
    return rows.filter(pc.less(rows["result_time"], pa.scalar(FAR, pa.int64()).cast(rows.schema.field(0).type)))
