"""Left, semi and anti joins of three streams over several buckets, and across restarts."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.plan.partition_grid import partition_grid
from dovetail.testing import Push, assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA, build, random_rows

LITTLE = dv.budget(memory=dv.tuples(20), policy="spill")


@pytest.mark.parametrize(
    ("on", "how", "options"),
    [
        ("A.k = B.k AND A.k = C.k", {"B": "left", "C": "left"}, {}),
        ("A.k = B.k AND B.g = C.g AND C.n < 30", {"B": "left", "C": "left"}, {"order": "hold"}),
        ("ABS(A.x - B.x) <= 0.05 AND A.n = C.n AND A.n < 40", {"B": "left", "C": "inner"}, {}),
        ("A.g = B.g AND A.n = B.n AND A.g = C.g", {"B": "left", "C": "anti"}, {}),
        ("A.k = B.k AND A.k = C.k AND C.n < 30", {"B": "left", "C": "full"}, {"order": "hold"}),
        ("A.k = B.k AND B.k = C.k", {"B": "full", "C": "right"}, {}),
        ("A.k = B.k AND A.k = C.k", {"B": "left", "C": "full"}, {"order": "hold", "budget": LITTLE}),
    ],
)
def test_static_rows_are_the_oracles(spark: Any, on: str, how: dict[str, str], options: dict[str, Any]) -> None:
    tables = {name: random_rows(seed, 90, seconds=20) for seed, name in enumerate("ABC")}
    query = build(on, dict(tables), partitions=4, how=how, **options)
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert_same_rows(rows, oracle(query.model, [Push(tables)]).rows)
    assert not options or ordered(rows)


@pytest.mark.slow
def test_shared_ones_and_aggregates(spark: Any) -> None:
    """Two of the same words in one operator, one of other words, and one that counts."""
    tables = {name: random_rows(seed, 90, seconds=20) for seed, name in enumerate("ABC")}
    on, words = "A.k = B.k AND B.g = C.g", {"B": "left", "C": "left"}
    streams = [dv.stream(name, rows, time="ts", window="4 seconds") for name, rows in tables.items()]
    counts = "SELECT A.k, COUNT(*) AS n FROM A LEFT JOIN B ON A.k = B.k LEFT JOIN C ON B.g = C.g GROUP BY A.k"
    queries = [
        dv.join(*streams, on=on, how=words, select="A.row AS a, B.row AS b, C.row AS c", partitions=4).named("every"),
        dv.join(*streams, on=on, how=words, select="A.row AS a", order="hold", partitions=4).named("few"),
        dv.join(*streams, on=on, how={"B": "left", "C": "anti"}, select="A.row AS a", partitions=4).named("other"),
        dv.sql(counts, *streams, partitions=4).named("counted"),
    ]
    rows = dv.share(*queries).spark(spark).toArrow()
    for query in queries:
        own = rows.filter(pc.equal(rows["query"], query.name)).select(query.schema.names).cast(query.schema)
        assert_same_rows(own, oracle(query.model, [Push(tables)]).rows)


@pytest.mark.parametrize("order", ["none", "hold"])
def test_rows_come_out_once_across_restarts(spark: Any, tmp_path: Path, order: str) -> None:
    folder = Folder(spark, tmp_path, "ABC")
    far = Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("ABC")})
    batches = [*random_batches("ABC", seed=4, batches=3), far]
    on, how = "A.k = B.k AND A.k = C.k AND B.n < C.n", {"B": "left", "C": "left" if order == "none" else "full"}
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        query = build(on, folder.frames(), partitions=3, how=how, order=order)
        folder.run(query.spark())
    early = pa.scalar(500_000_000, pa.int64()).cast(query.schema.field("result_time").type)
    assert_same_rows(_before(folder.rows(query), early), _before(oracle(query.model, batches).rows, early))


@pytest.mark.parametrize(
    ("on", "copies"),
    [
        ("A.k = B.k AND A.k = C.k", (1, 1, 1)),
        ("A.k = B.k AND B.k = C.k", (1, 1, 1)),
        ("A.k = B.k AND B.g = C.g", (1, 1, 4)),
        ("A.k = B.k AND B.k = C.n AND A.n = C.n", (1, 1, 1)),
        ("ABS(A.x - B.x) < 1 AND ABS(B.x - C.x) < 1", (1, 4, 4)),
    ],
)
def test_all_partners_of_a_row_are_where_it_is(on: str, copies: tuple[int, ...]) -> None:
    query = build(on, dict.fromkeys("ABC", SCHEMA.empty_table()), how={"B": "left", "C": "left"})
    grid = partition_grid(query.model, 4)
    assert grid.cells == 4
    assert tuple(map(grid.copies, "ABC")) == copies


@pytest.mark.parametrize(
    ("on", "how", "cells"),
    [
        ("A.k = B.k AND B.k = C.k", {"B": "left", "C": "full"}, 4),
        ("A.k = B.k AND A.g = C.g", {"B": "full", "C": "full"}, 1),
        ("A.k = B.k AND A.g = C.g", {"B": "left", "C": "right"}, 4),
    ],
)
def test_rows_that_are_kept_are_in_one_cell(on: str, how: dict[str, str], cells: int) -> None:
    query = build(on, dict.fromkeys("ABC", SCHEMA.empty_table()), how=how)
    grid = partition_grid(query.model, 4)
    assert grid.cells == cells
    assert [grid.copies(name) for name in query.model.preserved] == [1] * len(query.model.preserved)


def _before(rows: pa.Table, time: pa.Scalar) -> pa.Table:
    return rows.filter(pc.less(rows["result_time"], time))
