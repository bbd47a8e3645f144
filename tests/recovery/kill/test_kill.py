"""Killed at any point of its work and restarted from its checkpoint, a pipeline loses nothing and repeats nothing.

Each case is a process of its own that is killed with SIGKILL, by a hook in a Python worker at a point of the operator's
work, or from outside at a moment of chance; then it is started again until it comes to its end. Slow: make soak.
"""

import random
import time
from pathlib import Path
from typing import Any

import pytest

from tests.recovery.kill.running import CLUSTER, LOCAL, LONGEST_S, Job, kill_all, wait_for_a_batch

pytestmark = [pytest.mark.spark, pytest.mark.slow]
LATER = "A.k = B.k AND B.ts BETWEEN A.ts + INTERVAL '1' SECOND AND A.ts + INTERVAL '3' SECOND"
LATER_STILL = f"{LATER} AND B.k = C.k AND C.ts BETWEEN B.ts AND B.ts + INTERVAL '2' SECOND"


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
        ("recall:4", {"own": True, "how": "left"}),
        ("save:5", {"own": True, "order": "hold"}),
        ("saved:6", {"own": True, "how": "full"}),
        ("join:5", {"own": True, "how": "full"}),
        ("aside:4", {"own": True}),
        ("commit:2", {"own": True, "order": "hold"}),
        ("committed:2", {"own": True}),
        ("saved:5", {"asof": "backward", "how": "left", "order": "hold"}),
        ("join:4", {"asof": "nearest", "own": True, "names": "ABC", "on": "A.k = B.k AND A.k = C.k", "how": "left"}),
        ("saved:5", {"names": "ABC", "on": "A.k = B.k AND A.k = C.k", "how": {"B": "left", "C": "left"}}),
        ("join:4", {"names": "ABC", "on": "A.k = B.k AND B.k = C.k", "how": {"B": "left", "C": "full"}, "own": True}),
        ("join:5", {"on": LATER, "window": None, "how": "left", "order": "hold"}),
        (
            "saved:7",
            {"names": "ABC", "on": LATER_STILL, "window": None, "how": {"B": "left", "C": "left"}, "own": True},
        ),
        ("close:4", {"own": True, "finish": True, "names": "ABC", "on": "A.k = B.k AND B.k = C.k", "plan": "binary"}),
        ("close:2", {"own": True, "finish": True, "how": "left", "order": "hold"}),
        ("finishing:1", {"own": True, "finish": True, "how": "full"}),
        ("finished:1", {"own": True, "finish": True, "asof": "nearest", "how": "left"}),
    ],
)
def test_the_driver_killed_at_a_point_of_the_operators_work(
    tmp_path: Path, kill_at: str, options: dict[str, Any]
) -> None:
    job = Job(tmp_path, LOCAL, options, seed=len(kill_at))
    job.die_at(kill_at)
    job.finish()
    job.check()
    assert not list((tmp_path / "local").glob("*/dovetail")), "what workers left for each other is gone with them"


def test_the_driver_killed_at_moments_of_chance(tmp_path: Path) -> None:
    job = Job(tmp_path, LOCAL, {"order": "hold", "how": "left"}, seed=3)
    chance = random.Random(7)
    for _ in range(2):
        process = job.start()
        wait_for_a_batch(process, tmp_path)
        time.sleep(chance.random() * 2)
        if process.poll() is None:
            kill_all(process)
    job.finish()
    job.check()


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
    job.die_at(kill_at)
    job.options["then"] = 2 if "order" in options else 4
    process = job.start()
    while process.poll() is None and not list(tmp_path.glob("*.migrating")):
        time.sleep(0.05)
    time.sleep(chance.random() * 4)
    if process.poll() is None:
        kill_all(process)
    process = job.start()
    while process.poll() is None and not list(tmp_path.glob("checkpoint_?")):
        time.sleep(0.05)
    time.sleep(chance.random() * 4)
    if process.poll() is None:
        kill_all(process)
    job.finish()
    job.check()


@pytest.mark.parametrize(
    ("kill_at", "options"),
    [
        ("join:4", {}),
        ("saved:5", {}),
        *((point, {"own": True}) for point in ("read:4", "recall:4", "join:5", "save:5", "saved:4", "aside:3")),
    ],
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
