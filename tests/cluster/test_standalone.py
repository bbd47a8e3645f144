"""A standalone cluster of two workers on this machine: the package is shipped, kernels are kept, a worker may die."""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail.testing import Push, assert_same_rows, oracle
from examples.cluster.standalone import Cluster, kill
from tests.spark.feeding import random_batches
from tests.spark.queries import SCHEMA, build

BATCHES = 6
COUNTED = (
    "from dovetail.engine.combine.kernels.chains import hash_insert, hash_probe; "
    "hash_insert.load(); hash_probe.load(); "
    "print(sum(sum(kernel.stats.cache_misses.values()) for kernel in (hash_insert, hash_probe)))"
)
Page = dict[int, tuple[str, str]]
pytestmark = pytest.mark.cluster


def test_the_page_prints_what_it_shows(page: Page) -> None:
    assert len(page) > 2
    assert all(printed.rstrip() == shown.rstrip() for printed, shown in page.values()), page


def test_executors_have_the_package_that_was_shipped(cluster_spark: Any, page: Page) -> None:
    def where(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import dovetail as here

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"file": [str(here.__file__)], "folder": [os.getcwd()]})

    found = cluster_spark.range(0, 8, 1, 8).mapInArrow(where, "file string, folder string").distinct().collect()
    assert len({row.folder for row in found}) == 2, "both workers work"
    assert all("dovetail.zip" in row.file for row in found), "not the one that this machine has installed"


def test_kernels_are_kept_for_the_next_process(cluster_spark: Any, page: Page, kernels: Path) -> None:
    """The page has joined, so kernels lie in the folder, and no other process beside the executor compiles them."""

    def misses(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import dovetail as here

        program = f"import sys; sys.path.insert(0, {str(Path(str(here.__file__)).parents[1])!r}); {COUNTED}"
        for _ in batches:
            printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
            yield pa.RecordBatch.from_pydict({"misses": [int(printed)]})

    assert len(list(kernels.rglob("*.nbi"))) > 5
    assert cluster_spark.range(0, 1, 1, 1).mapInArrow(misses, "misses long").collect() == [(0,)]


def test_a_worker_killed_during_the_run(cluster_spark: Any, page: Page, running: Cluster, tmp_path: Path) -> None:
    batches = random_batches("AB", seed=11, batches=BATCHES)
    write(tmp_path, batches)
    reader = cluster_spark.readStream.option("maxFilesPerTrigger", 1)
    frames = {name: reader.schema(frame_schema()).parquet(str(tmp_path / name)) for name in "AB"}
    query = build("A.k = B.k", frames, partitions=4)
    writer = query.spark().writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    started = writer.trigger(availableNow=True).format("parquet").option("path", str(tmp_path / "out")).start()
    while len(list((tmp_path / "checkpoint" / "commits").glob("[0-9]*"))) < 2 and not started.exception():
        time.sleep(0.05)
    kill(running.workers[0])
    assert started.isActive, "it was killed under a running query"
    started.awaitTermination()
    found = cluster_spark.read.schema(query.spark().schema).parquet(str(tmp_path / "out")).toArrow()
    expected = oracle(query.model, batches).rows
    assert expected.num_rows > 100
    assert_same_rows(found.cast(query.schema), expected)


def frame_schema() -> Any:
    from dovetail.runtime.spark.types import spark_schema

    return spark_schema(SCHEMA)


def write(path: Path, batches: list[Push]) -> None:
    for name in "AB":
        (path / name).mkdir()
        for at, batch in enumerate(batches):
            file = path / name / f"{at:04}.parquet"
            pq.write_table(batch.batch.get(name, SCHEMA.empty_table()), file)
            os.utime(file, (10**9 + at, 10**9 + at))
