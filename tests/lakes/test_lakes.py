"""Tables of lakes as sources and sinks: the rows of the oracle once each, over repeated batches and over kills."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dovetail.testing import Push, assert_same_rows, oracle
from tests.lakes.lake import ON, Lake
from tests.spark.feeding import random_batches
from tests.spark.queries import bare

ROOT = Path(__file__).parents[2]
LONGEST_S = 600
FORMATS = ["delta", "iceberg", "dovetail"]
pytestmark = [pytest.mark.lakes, pytest.mark.spark]


def check(lake: Lake, batches: list[Push]) -> None:
    query = bare(ON, "AB")
    expected = oracle(query.model, batches).rows
    assert expected.num_rows > 50
    assert_same_rows(lake.rows().select(query.schema.names).cast(query.schema), expected)


def forget_last_commit(checkpoint: Path) -> None:
    """As if the driver had died after the sink's commit and before Spark's own."""
    last = max((checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("connector", FORMATS, indirect=True)
def test_a_repeated_batch_is_entered_once(lake_spark: Any, warehouse: Path, connector: str) -> None:
    lake, batches = Lake(lake_spark, connector, warehouse / f"repeated_{connector}"), random_batches("AB", 5, 4)
    lake.append(batches[:2])
    lake.run()
    before = lake.rows().num_rows
    assert before > 20
    forget_last_commit(lake.folder / "checkpoint")
    lake.run()
    assert lake.rows().num_rows == before
    lake.append(batches[2:])
    lake.run()
    check(lake, batches)


@pytest.mark.parametrize("connector", FORMATS, indirect=True)
def test_killed_and_started_again(lake_spark: Any, warehouse: Path, connector: str) -> None:
    """A process with its Java and its workers, killed twice at moments of chance after a batch has begun."""
    lake, batches = Lake(lake_spark, connector, warehouse / f"killed_{connector}"), random_batches("AB", 8, 6)
    lake.append(batches)
    for wait_s in (0.5, 2.0):
        process = _start(lake)
        _wait_for_a_batch(process, lake.folder)
        time.sleep(wait_s)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert _start(lake).wait(LONGEST_S) == 0, (lake.folder / "log").read_text()[-4000:]
    check(lake, batches)


def _start(lake: Lake) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.lakes.lake", lake.format, str(lake.folder)]
    with (lake.folder / "log").open("ab") as out:
        return subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, start_new_session=True)


def _wait_for_a_batch(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Until one more batch than before has begun."""
    begun = folder / "checkpoint" / "offsets"
    before = len(list(begun.glob("[0-9]*")))
    while process.poll() is None and len(list(begun.glob("[0-9]*"))) <= before:
        time.sleep(0.05)
