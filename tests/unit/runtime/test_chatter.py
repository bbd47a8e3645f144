"""What Spark says goes to a private file of an unknown name, which goes with the process unless that fails."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dovetail.runtime.spark.chatter import KEPT_S, LOG, PREFIX, Chatter, sweep

PROGRAM = """
import os, subprocess, sys
from dovetail.runtime.spark.chatter import chatter
with chatter.sent_away():
    subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write('from Java')"])
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def ran(temporary: Path, rest: str = "") -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.run([sys.executable, "-c", PROGRAM + rest], env=variables, capture_output=True, text=True)


def left(temporary: Path) -> list[str]:
    return [path.read_text() for path in temporary.rglob(LOG)]


def test_the_file_is_private_whatever_the_mask(temporary: Path) -> None:
    before = os.umask(0)
    try:
        with Chatter().sent_away():
            os.write(2, b"said")
    finally:
        os.umask(before)
    (log,) = temporary.rglob(LOG)
    assert log.read_text() == "said"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (log.parent, log)] == [0o700, 0o600]


def test_nobody_can_know_its_name_before(temporary: Path) -> None:
    """What lies under the old name, a pipe that nobody reads, is not touched."""
    program = "import os; os.mkfifo(f'{os.environ[\"TMPDIR\"]}/dovetail-spark-{os.getpid()}.log')\n" + PROGRAM
    variables = {**os.environ, "TMPDIR": str(temporary)}
    assert subprocess.run([sys.executable, "-c", program], env=variables, timeout=60).returncode == 0
    with Chatter().sent_away():
        pass
    with Chatter().sent_away():
        pass
    assert len({path.parent.name for path in temporary.rglob(LOG)}) == 2


def test_it_is_gone_when_the_process_ends(tmp_path: Path) -> None:
    done = ran(tmp_path)
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])


def test_it_stays_when_the_process_ends_with_an_error_and_its_path_is_printed(tmp_path: Path) -> None:
    done = ran(tmp_path, "raise ValueError('wrong')")
    (log,) = tmp_path.rglob(LOG)
    assert done.stderr.endswith(f"ValueError: wrong\ndovetail: what Spark said is in {log}\n")
    assert log.read_text() == "from Java"


def test_it_stays_if_it_was_asked_to(tmp_path: Path) -> None:
    done = ran(tmp_path, "print(chatter.keep())")
    assert Path(done.stdout.strip()).read_text() == "from Java"


def test_a_forked_child_leaves_it_to_its_parent(tmp_path: Path) -> None:
    done = ran(tmp_path, "if os.fork() == 0:\n    sys.exit()\nos.wait()\nprint(os.path.exists(chatter.keep()))")
    assert done.stdout == "True\n"


def test_those_of_processes_that_are_gone_are_swept_after_a_day(temporary: Path) -> None:
    alive = Chatter()
    with alive.sent_away():
        pass
    old, fresh = temporary / f"{PREFIX}old", temporary / f"{PREFIX}fresh"
    for folder in (old, fresh):
        folder.mkdir()
        (folder / LOG).write_text("said")
    kept = alive.keep()
    assert kept is not None
    long_ago = time.time() - 2 * KEPT_S
    for log in (kept, old / LOG):
        os.utime(log, (long_ago, long_ago))
    sweep(temporary)
    assert (kept.exists(), old.exists(), fresh.exists()) == (True, False, True)


def test_what_is_not_a_log_of_ours_is_not_swept(temporary: Path) -> None:
    more, linked, pipe = (temporary / f"{PREFIX}{name}" for name in ("more", "linked", "pipe"))
    elsewhere = temporary / "elsewhere"
    for folder in (more, elsewhere, pipe):
        folder.mkdir()
    for path in (more / LOG, more / "other", elsewhere / LOG):
        path.write_text("precious")
        os.utime(path, (0, 0))
    linked.symlink_to(elsewhere)
    os.mkfifo(pipe / LOG)
    sweep(temporary)
    assert sorted(left(more) + left(elsewhere)) == ["precious", "precious"]
    assert pipe.exists()
