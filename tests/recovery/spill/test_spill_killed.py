"""Killed while it writes, in a pause, in a pass over everything: started again, it gives what it would have given."""

import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from dovetail.testing import assert_same_rows
from tests.recovery.spill.input import events, query


def start(folder: Path, phase: str, count: int) -> int:
    command = [sys.executable, "-m", "tests.recovery.spill.job", str(folder), phase, str(count)]
    return subprocess.run(command, check=False).returncode


@pytest.mark.parametrize(
    ("phase", "count"),
    [
        ("write", 7),
        pytest.param("pause", 3, marks=pytest.mark.slow),
        pytest.param("pass", 5, marks=pytest.mark.slow),
    ],
)
def test_killed_in_a_phase_and_started_again(tmp_path: Path, phase: str, count: int) -> None:
    assert start(tmp_path, phase, count) == -signal.SIGKILL
    left = {path.name for path in (tmp_path / "spill").glob("dovetail-*/")}
    assert start(tmp_path, "never", 0) == 0
    assert left
    assert not list((tmp_path / "spill").iterdir())
    done, _, rows = pickle.loads((tmp_path / "saved").read_bytes())
    assert done == len(events())
    run = query(None).local()
    assert_same_rows(pa.concat_tables(rows), pa.concat_tables([happening(run) for happening in events()]))
