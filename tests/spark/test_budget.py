"""CPU budgets on Spark: per bucket, from batch times and arrivals, with decisions and waiting rows in the state.

A run of all there is may end while rows wait for time to work on them: where the budget is too small, a query runs
until it has done what is asked, and is stopped.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows, assert_subset, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import build
from tests.spark.test_clock import run_all_there_is

ON = "A.k = B.k AND ABS(B.x - C.x) <= 0.5"
PARTS = ("given_s", "used_s", "throttle", "dropped", "comparisons_skipped", "missed_high", "completeness", "short")


LONGEST_S = 120


def run_until(folder: Folder, frame: Any, done: Callable[[Any], bool]) -> Any:
    """Run a pipeline from its checkpoint until ``done`` says so."""
    writer = frame.writeStream.format("parquet").option("path", str(folder.path / "out"))
    started = writer.option("checkpointLocation", str(folder.path / "checkpoint")).start()
    for _ in range(LONGEST_S):
        if started.awaitTermination(1) or done(started):
            break
    started.stop()
    assert started.exception() is None
    return started


def all_read(count: int, started: Any) -> bool:
    return bool(sum(progress.numInputRows for progress in started.recentProgress) >= count)


def test_a_budget_that_is_enough_changes_nothing_and_a_run_of_all_there_is_ends(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "ABC")
    batches = random_batches("ABC", seed=3, batches=3, count=25)
    folder.feed(batches)
    query = build(ON, folder.frames(), partitions=2, budget=dv.budget(cpu=1.0))
    started = run_all_there_is(folder, query.spark())
    assert_same_rows(folder.rows(query), oracle(query.model, batches).rows)
    report = dv.spark_metrics(started)[-1]["budget"]
    assert (report["throttle"], report["completeness"], report["missed_high"]) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("trigger", ["availableNow", "once"])
def test_a_run_of_all_there_is_ends_though_its_budget_is_too_small(spark: Any, tmp_path: Path, trigger: str) -> None:
    folder = Folder(spark, tmp_path, "ABC")
    batches = random_batches("ABC", seed=4, batches=2, count=40)
    folder.feed(batches)
    policy = dv.harvest(interval="100 milliseconds", buffer=20)
    query = build(ON, folder.frames(), partitions=2, budget=dv.budget(cpu=0.001, policy=policy))
    started = run_all_there_is(folder, query.spark(), trigger)
    assert all_read(sum(rows.num_rows for push in batches for rows in push.batch.values()), started)
    rows, whole = folder.rows(query), oracle(query.model, batches).rows
    assert_subset(rows, whole)
    report = dv.spark_metrics(started)[-1]["budget"]
    assert rows.num_rows < whole.num_rows, "a thousandth of a core has not joined everything"
    assert report["pending"] > 0 or report["missed_high"] > 0, "and the account says so"


@pytest.mark.slow
def test_too_little_gives_part_of_the_rows_and_says_so_across_a_restart(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "ABC")
    batches = random_batches("ABC", seed=4, batches=6, count=40)
    policy = dv.harvest(interval="100 milliseconds", buffer=20)
    throttles = []
    for part in (batches[:3], batches[3:]):
        folder.feed(part)
        query = build(ON, folder.frames(), partitions=2, budget=dv.budget(cpu=0.001, policy=policy))
        count = sum(rows.num_rows for push in part for rows in push.batch.values())
        metrics = dv.spark_metrics(run_until(folder, query.spark(), partial(all_read, count)))
        throttles += [bucket["engine"]["budget"]["throttle"] for batch in metrics for bucket in batch["buckets"]]
    assert_subset(folder.rows(query), oracle(query.model, batches).rows)
    report = metrics[-1]["budget"]
    assert set(PARTS) <= report.keys()
    assert min(throttles) < 1
    assert sum(report["dropped"].values()) > 0
    assert report["used_s"] > 0
