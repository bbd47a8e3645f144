"""Isolation on Spark: random sets of queries over one checkpoint, changed between batches, each against itself alone.

Every part of a story is a pipeline of its own that resumes from the checkpoint of the one before, so each change of the
set is a restart as well.
"""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.runtime.spark.metrics import spark_metrics
from dovetail.testing import Close, Push, assert_same_rows, assert_subset, oracle, ordered
from tests.properties.shared_queries import rows_of
from tests.properties.test_sharing_changes import later, without
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA

CONDITIONS = ("A.n > 20", "B.x > 0", "A.g = 'b b'", "B.n <= 40", "A.x IS NOT NULL")
COLUMNS = ("A.x AS ax", "B.g AS bg", "A.n + B.n AS n")
ORDERS = ("none", "none", "hold", "sync")


@dataclass(frozen=True)
class Asked:
    """A query as text, to be made over frames or over nothing."""

    name: str
    on: str
    select: str
    window: Any
    order: str

    def over(self, data: dict[str, Any]) -> dv.Query:
        streams = [dv.stream(each, frame, time="ts", delay="3 seconds") for each, frame in data.items()]
        made = dv.join(*streams, on=self.on, select=self.select, window=self.window, order=self.order, partitions=2)
        return made.named(self.name)


@dataclass
class Stay:
    """A query's stay in the group: the batches before it, the rows it got, from when on it was complete."""

    asked: Asked
    before: int
    rows: list[pa.Table] = field(default_factory=list)
    until: int = 0
    complete: int | None = None


def asked(chance: Random, name: str, on: str, kind: str, streams: str) -> Asked:
    size = chance.choice([1, 2, 3, 5])
    window = {"time": f"{size} seconds", "rows": dv.rows(size * 5), "key": dv.rows(size, per="key")}[kind]
    own = [condition for condition in CONDITIONS if chance.random() < 0.2]
    columns = [column for column in COLUMNS if chance.random() < 0.3]
    numbers = [f"{each}.row AS {each.lower()}" for each in streams]
    return Asked(name, " AND ".join([on, *own]), ", ".join(numbers + columns), window, chance.choice(ORDERS))


def run(folder: Folder, queries: list[Asked], schedule: str) -> tuple[pa.Table, dict[str, int]]:
    """The rows of all that has come, in their order, and from when on each query is complete."""
    shared, found = dv.share(*(each.over(folder.frames()) for each in queries), schedule=schedule), []
    writing = shared.spark().writeStream.foreachBatch(lambda rows, _: found.append(rows.toArrow()))
    started = writing.option("checkpointLocation", str(folder.path / "kept")).trigger(availableNow=True).start()
    started.awaitTermination()
    buckets = [bucket["engine"]["queries"] for bucket in spark_metrics(started)[-1]["buckets"]]
    names = [each.name for each in queries]
    return pa.concat_tables(found), {name: max(each[name]["complete_from"] or 0 for each in buckets) for name in names}


STORIES = {
    "greedy, time": ("greedy", "time", "AB", "A.k = B.k", 20),
    "smallest, rows": ("smallest", "key", "AB", "A.k = B.k", 5),
    "largest, three streams": ("largest", "time", "ABC", "A.k = B.k AND B.k = C.k", 8),
}


@pytest.mark.slow
@pytest.mark.parametrize(("schedule", "kind", "streams", "on", "most"), STORIES.values(), ids=STORIES)
def test_queries_come_and_go_between_batches(
    spark: Any, tmp_path: Path, schedule: str, kind: str, streams: str, on: str, most: int
) -> None:
    chance, folder = Random(schedule), Folder(spark, tmp_path, streams)
    batches = random_batches(streams, seed=len(schedule), batches=5, count=20)
    there = [Stay(asked(chance, f"first {at}", on, kind, streams), 0) for at in range(most)]
    gone: list[Stay] = []
    for part, (start, end) in enumerate([(0, 2), (2, 3), (3, 5)]):
        folder.feed(batches[start:end])
        rows, complete = run(folder, [stay.asked for stay in there], schedule)
        for stay in there:
            query = stay.asked.over({each: SCHEMA.empty_table() for each in streams})
            stay.rows.append(rows_of(rows, query))
            stay.until, stay.complete = end, complete[stay.asked.name]
        leaving = chance.sample(there, k=min(len(there) - 1, 1 + most // 4))
        gone += leaving
        joining = [asked(chance, f"later {part} {at}", on, kind, streams) for at in range(1 + most // 4)]
        there = [stay for stay in there if stay not in leaving] + [Stay(each, end) for each in joining]
    stays = [stay for stay in [*gone, *there] if stay.rows]
    assert {stay.before for stay in stays} == {0, 2, 3}
    assert sum(check(stay, batches) > 0 for stay in stays) >= len(stays) // 2, "many get something"


def check(stay: Stay, batches: list[Push]) -> int:
    """As alone if it was there from the start; else no row too many, and from some time on none missing."""
    query = stay.asked.over({each: SCHEMA.empty_table() for each in _streams(stay)})
    rows, alone = pa.concat_tables(stay.rows), query.local()
    pushed = [alone.push(name, table) for push in batches[: stay.until] for name, table in push.batch.items()]
    expected = pa.concat_tables(pushed) if pushed else rows.slice(0, 0)
    assert query.model.order == "none" or ordered(rows)
    if not stay.before:
        assert_same_rows(rows, expected)
        return int(rows.num_rows)
    expected = without(expected, oracle(query.model, [*batches[: stay.before], Close()]).rows)
    assert_subset(rows, expected)
    assert stay.complete is not None
    assert_same_rows(later(rows, stay.complete), later(expected, stay.complete))
    return int(rows.num_rows)


def _streams(stay: Stay) -> str:
    return "ABC" if "C." in stay.asked.on else "AB"
