"""A pipeline over files as a process that is killed and started again, and what its sink must have in the end."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dovetail.testing import Push, assert_same_rows, oracle, ordered
from tests.recovery.kill.job import query_of
from tests.spark.feeding import random_batches
from tests.spark.queries import SCHEMA, random_rows

ROOT = Path(__file__).parents[3]
HOOKS = Path(__file__).parent / "hooks"
BATCHES = 3
LONGEST_S = 900  # for one start; on a busy machine most of it is waiting for a turn
FAR_S = 600  # rows from here on only move the watermarks
LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"


class Job:
    """A pipeline over files, run as often as it takes."""

    def __init__(self, path: Path, master: str, options: dict[str, Any], seed: int, batches: int = BATCHES) -> None:
        self.path, self.master, self.options = path, master, options
        far = {name: random_rows(place, 5, FAR_S + 1, 1, first_row=9000) for place, name in enumerate(self.names)}
        self.batches = random_batches(self.names, seed, batches) + ([] if "finish" in options else [Push(far)])
        (path / "notes").mkdir()
        self.feed()

    @property
    def names(self) -> str:
        return str(self.options.get("names", "AB"))

    def feed(self) -> None:
        """Give it all that it is to read."""
        for name in self.names:
            (self.path / name).mkdir()
            for at, batch in enumerate(self.batches):
                file = self.path / name / f"{at:04}.parquet"
                pq.write_table(batch.batch.get(name, SCHEMA.empty_table()), file)
                os.utime(file, (10**9 + at, 10**9 + at))

    def start(self, kill_at: str | None = None) -> "subprocess.Popen[bytes]":
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        if kill_at:
            environment |= {"KILL_AT": kill_at, "KILL_NOTES": str(self.path / "notes")}
            environment["PYTHONPATH"] = os.pathsep.join([str(HOOKS), *paths])
        command = [
            sys.executable,
            "-m",
            "tests.recovery.kill.job",
            str(self.path),
            self.master,
            json.dumps(self.options),
        ]
        log = (self.path / "log").open("ab")
        return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)

    def die_at(self, point: str) -> None:
        """Run until it is killed at a point of its work."""
        process = self.start(point)
        process.wait(timeout=LONGEST_S)
        assert (self.path / "notes" / "killed").exists(), (self.path / "log").read_text()[-3000:]
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def finish(self) -> None:
        """Run to the end, whatever happened before."""
        assert self.start().wait(timeout=LONGEST_S) == 0, (self.path / "log").read_text()[-3000:]

    def check(self) -> None:
        """The rows are those of a run that was never killed, up to what its watermarks have reached."""
        found, expected = self.found_and_expected()
        assert expected.num_rows
        assert_same_rows(found, expected)
        assert "order" not in self.options or ordered(found)

    def found_and_expected(self) -> tuple[pa.Table, pa.Table]:
        """What the sink has, and what it must have."""
        query = query_of({name: SCHEMA.empty_table() for name in self.names}, self.options)
        return _early(self.committed(query.schema)), _early(oracle(query.model, self.batches).rows)

    def committed(self, schema: pa.Schema) -> pa.Table:
        """Only files that the sink's log has committed count: batch by batch, in a batch partition by partition."""
        files: list[Path] = []
        if "own" in self.options:
            batches = sorted((self.path / "out").glob("batch=*"), key=lambda path: int(path.name.partition("=")[2]))
            files = [file for batch in batches for file in sorted(batch.iterdir())]
        for batch in sorted((self.path / "out" / "_spark_metadata").glob("[0-9]*"), key=_number):
            assert not batch.suffix, "so few batches that Spark does not compact its log"
            lines = [json.loads(line) for line in batch.read_text().splitlines()[1:]]
            files += sorted((Path(line["path"].removeprefix("file://")) for line in lines), key=_partition)
        tables = [pq.ParquetFile(file).read() for file in files]
        return pa.concat_tables(tables).cast(schema) if tables else schema.empty_table()


def _early(rows: pa.Table) -> pa.Table:
    limit = pa.scalar(FAR_S * 1_000_000, pa.int64()).cast(rows.schema.field("result_time").type)
    return rows.filter(pc.less(rows["result_time"], limit))


def _number(path: Path) -> int:
    return int(path.name.split(".")[0])


def _partition(path: Path) -> int:
    return int(path.name.split("-")[1])


def kill_all(process: "subprocess.Popen[bytes]") -> None:
    """The driver, its Java and its workers: all of them, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for_a_batch(process: "subprocess.Popen[bytes]", path: Path, checkpoint: str = "checkpoint") -> None:
    """Until one more batch than before has begun."""
    begun = path / checkpoint / "offsets"
    before = len(list(begun.glob("[0-9]*")))
    while process.poll() is None and len(list(begun.glob("[0-9]*"))) <= before:
        time.sleep(0.05)
