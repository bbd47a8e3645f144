"""Queries that come and go while a streaming query runs: each as in a run of this process with the same changes."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, ordered
from tests.properties.shared_queries import rows_of
from tests.spark.feeding import Folder, random_batches
from tests.spark.test_sharing import bare, made, written

START = ("near", "far")


def start(folder: Folder, *names: str, at_once: bool = True) -> Any:
    shared = dv.share(*(made(name, folder.frames()) for name in names))
    sinks = {name: str(folder.path / name) for name in names}
    trigger = {"availableNow": True} if at_once else None
    return shared.write(sinks, str(folder.path / "checkpoint"), trigger=trigger, changes=True)


def feed(folder: Folder, run: Any, batch: Push, found: list[pa.Table]) -> None:
    folder.feed([batch])
    found += [run.push(name, rows) for name, rows in batch.batch.items()]


def undo_last_commit(folder: Folder) -> None:
    """As if the driver had died after the last batch was written and before that was noted."""
    commits = folder.path / "checkpoint" / "commits"
    last = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
    (commits / str(last)).unlink()
    (commits / f".{last}.crc").unlink(missing_ok=True)


def check(folder: Folder, found: list[pa.Table], *names: str) -> None:
    for name in names:
        expected = [rows_of(each, bare(name)) for each in found if name in each["query"].to_pylist()]
        rows = written(folder, name)
        assert rows.num_rows > 0, name
        assert_same_rows(rows, pa.concat_tables(expected))
        assert bare(name).model.order == "none" or ordered(rows)


def test_queries_come_and_go_without_a_stop(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=5, batches=4)
    run, found = dv.share(*map(bare, START)).local(), list[pa.Table]()
    running = start(folder, *START, at_once=False)
    for batch, change in zip(batches, ["some left each", "-near", "", ""], strict=True):
        feed(folder, run, batch, found)
        running.processAllAvailable()
        for name in change.split():
            if name.startswith("-"):
                running.remove(name[1:])
                run.remove(name[1:])
            else:
                running.add(bare(name), str(folder.path / name))
                run.add(bare(name))
    assert running.names == ("far", "some", "left", "each")
    running.stop()
    check(folder, found, *START, "some", "left", "each")


def test_a_killed_query_goes_on_with_the_set_it_had(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", seed=5, batches=4)
    run, found = dv.share(*map(bare, START)).local(), list[pa.Table]()
    feed(folder, run, batches[0], found)
    running = start(folder, *START)
    running.awaitTermination()
    running.add(bare("sync"), str(folder.path / "sync"))  # the next batch brings it, with rows
    running.remove("near")
    run.add(bare("sync"))
    run.remove("near")
    feed(folder, run, batches[1], found)
    start(folder, *START).awaitTermination()
    undo_last_commit(folder)
    feed(folder, run, batches[2], found)
    start(folder, *START).awaitTermination()
    later = start(folder, "far", "some")  # another program: its queries instead of those
    assert later.names == ("far", "some")
    later.awaitTermination()
    run.add(bare("some"))  # before the other goes: the set changes in one step, and what both read stays stored
    run.remove("sync")
    feed(folder, run, batches[3], found)
    start(folder, "far", "some").awaitTermination()
    check(folder, found, *START, "sync", "some")


def test_what_cannot_be_changed_is_refused_at_once(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    folder.feed(random_batches("AB", seed=3, batches=1))
    running = start(folder, *START)
    running.stop()  # what is refused is refused whether it runs or not
    other = dv.join(*bare("near").model.streams, on="A.n = B.n", window="1 second").named("other")
    with pytest.raises(dv.QueryError, match=r"'other'.*Start those by themselves"):
        running.add(other, "x")
    with pytest.raises(dv.QueryError, match="two queries are named 'far'"):
        running.add(bare("far"), "x")
    with pytest.raises(dv.QueryError, match="there is no query 'fra'"):
        running.remove("fra")
    dv.function("half", lambda column: column, [pa.int64()], pa.int64())
    with pytest.raises(dv.QueryError, match="'half' is code"):
        running.add(dv.join(*_streams(), on="A.k = B.k AND half(A.n) > 2", window="1 second", partitions=2), "x")
    assert running.names == START
    running.remove("far")
    with pytest.raises(dv.QueryError, match="'near' is the only query"):
        running.remove("near")
    with pytest.raises(dv.QueryError, match="'far' with other columns"):
        running.add(bare("near").named("far"), "x")


def _streams() -> list[Any]:
    return [
        dv.stream(name, time="ts", schema=bare("near").model.stream(name).schema, delay="3 seconds") for name in "AB"
    ]
