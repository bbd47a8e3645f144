"""Killed at any point of its work and restarted from its checkpoint, a pipeline loses nothing and repeats nothing.

Each case is a process of its own that is killed with SIGKILL, by a hook in a Python worker at a point of the operator's
work, or from outside at a moment of chance; then it is started again until it comes to its end. Slow: make soak.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

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
pytestmark = [pytest.mark.spark, pytest.mark.slow]


class Job:
    """A pipeline over files, run as often as it takes."""

    def __init__(self, path: Path, master: str, options: dict[str, Any], seed: int) -> None:
        self.path, self.master, self.options = path, master, options
        names = options.get("names", "AB")
        far = Push({name: random_rows(place, 5, FAR_S + 1, 1, first_row=9000) for place, name in enumerate(names)})
        self.batches = random_batches(names, seed, BATCHES) + ([] if "finish" in options else [far])
        for name in names:
            (path / name).mkdir()
            for at, batch in enumerate(self.batches):
                file = path / name / f"{at:04}.parquet"
                pq.write_table(batch.batch.get(name, SCHEMA.empty_table()), file)
                os.utime(file, (10**9 + at, 10**9 + at))
        (path / "notes").mkdir()

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

    def finish(self) -> None:
        """Run to the end, whatever happened before."""
        assert self.start().wait(timeout=LONGEST_S) == 0, (self.path / "log").read_text()[-3000:]

    def check(self) -> None:
        """The rows are those of a run that was never killed, up to what its watermarks have reached."""
        query = query_of({name: SCHEMA.empty_table() for name in self.options.get("names", "AB")}, self.options)
        expected = _early(oracle(query.model, self.batches).rows)
        assert expected.num_rows
        found = _early(self._committed(query.schema))
        assert_same_rows(found, expected)
        assert "order" not in self.options or ordered(found)

    def _committed(self, schema: pa.Schema) -> pa.Table:
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


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """The driver, its Java and its workers: all of them, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize(
    ("kill_at", "options"),
    [
        ("recall:4", {}),
        ("join:5", {"order": "hold"}),
        ("save:5", {"how": "full"}),
        ("saved:8", {"order": "sync", "how": "left"}),
        ("recall:7", {"order": "adaptive"}),
        ("saved:3", {"how": "semi", "order": "hold"}),
        ("read:5", {"own": True}),
        ("join:5", {"own": True, "how": "full"}),
        ("aside:4", {"own": True}),
        ("commit:2", {"own": True, "order": "hold"}),
        ("committed:2", {"own": True}),
        ("saved:5", {"asof": "backward", "how": "left", "order": "hold"}),
        ("join:4", {"asof": "nearest", "own": True, "names": "ABC", "on": "A.k = B.k AND A.k = C.k", "how": "left"}),
        ("saved:5", {"names": "ABC", "on": "A.k = B.k AND A.k = C.k", "how": {"B": "left", "C": "left"}}),
        ("join:4", {"names": "ABC", "on": "A.k = B.k AND B.k = C.k", "how": {"B": "left", "C": "full"}, "own": True}),
        ("close:2", {"own": True, "finish": True, "how": "left", "order": "hold"}),
        ("finishing:1", {"own": True, "finish": True, "how": "full"}),
        ("finished:1", {"own": True, "finish": True, "asof": "nearest", "how": "left"}),
    ],
)
def test_the_driver_killed_at_a_point_of_the_operators_work(
    tmp_path: Path, kill_at: str, options: dict[str, Any]
) -> None:
    job = Job(tmp_path, LOCAL, options, seed=len(kill_at))
    process = job.start(kill_at)
    process.wait(timeout=LONGEST_S)
    assert (tmp_path / "notes" / "killed").exists(), (tmp_path / "log").read_text()[-3000:]
    _end(process)
    job.finish()
    job.check()
    assert not list((tmp_path / "local").glob("*/dovetail")), "what workers left for each other is gone with them"


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def test_the_driver_killed_at_moments_of_chance(tmp_path: Path) -> None:
    job = Job(tmp_path, LOCAL, {"order": "hold", "how": "left"}, seed=3)
    chance = random.Random(7)
    for _ in range(2):
        process = job.start()
        _wait_for_a_batch(process, tmp_path)
        time.sleep(chance.random() * 2)
        if process.poll() is None:
            _kill(process)
    job.finish()
    job.check()


def _wait_for_a_batch(process: "subprocess.Popen[bytes]", path: Path) -> None:
    """Until one more batch than before has begun."""
    begun = path / "checkpoint" / "offsets"
    before = len(list(begun.glob("[0-9]*")))
    while process.poll() is None and len(list(begun.glob("[0-9]*"))) <= before:
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("kill_at", "options"),
    [
        ("saved:5", {}),
        ("join:5", {"how": "full", "order": "hold"}),
        ("commit:2", {"own": True, "order": "hold"}),
        ("committed:2", {"own": True, "how": "left"}),
    ],
)
def test_killed_then_migrated_and_killed_in_that_and_after_it(
    tmp_path: Path, kill_at: str, options: dict[str, Any]
) -> None:
    """The sink has what a batch wrote that nobody noted as done; to other partitions it goes all the same."""
    job, chance = Job(tmp_path, LOCAL, options, seed=len(kill_at)), random.Random(kill_at)
    process = job.start(kill_at)
    process.wait(timeout=LONGEST_S)
    assert (tmp_path / "notes" / "killed").exists(), (tmp_path / "log").read_text()[-3000:]
    _end(process)
    job.options["then"] = 2 if "order" in options else 4
    process = job.start()
    while process.poll() is None and not list(tmp_path.glob("*.migrating")):
        time.sleep(0.05)
    time.sleep(chance.random() * 4)
    if process.poll() is None:
        _kill(process)
    process = job.start()
    while process.poll() is None and not list(tmp_path.glob("checkpoint_?")):
        time.sleep(0.05)
    time.sleep(chance.random() * 4)
    if process.poll() is None:
        _kill(process)
    job.finish()
    job.check()


@pytest.mark.parametrize(
    ("kill_at", "options"),
    [("join:4", {}), ("saved:5", {}), ("read:4", {"own": True}), ("aside:3", {"own": True})],
)
def test_an_executor_killed_under_a_running_query(tmp_path: Path, kill_at: str, options: dict[str, Any]) -> None:
    """Spark starts another executor and tries the task again: what the lost attempt did leaves no trace."""
    job = Job(tmp_path, CLUSTER, {"how": "left"} | options, seed=len(kill_at))
    assert job.start(kill_at).wait(timeout=280) == 0, (tmp_path / "log").read_text()[-3000:]
    assert (tmp_path / "notes" / "killed").exists()
    job.check()


@pytest.mark.parametrize("kill_at", ["read:4", "aside:3"])
def test_a_worker_killed_while_it_reads_or_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kill_at: str
) -> None:
    """Only the Python process: a session of one process does not try again, so the query ends, and is started anew."""
    monkeypatch.setenv("KILL_WORKER", "yes")
    job = Job(tmp_path, LOCAL, {"own": True}, seed=len(kill_at))
    assert job.start(kill_at).wait(timeout=LONGEST_S) != 0
    assert (tmp_path / "notes" / "killed").exists()
    job.finish()
    job.check()
