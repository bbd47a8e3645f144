"""Kills a pipeline on Spark at moments of chance, takes it to other partitions between, and counts what suffered.

python -m scripts.kill --kills 200 --seed 1 --json

Each round is a pipeline over files on a cluster of two executors: its driver, an executor or a Python worker is killed
with SIGKILL again and again; after a driver's death its checkpoint may first be made into one of other partitions, and
that may be killed as well. Then it runs to its end, and its sink must have the rows of a run that was never killed.
A run that is ended early (Ctrl-C or SIGTERM) reports the rounds that are whole.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from subprocess import Popen
from typing import Any

from dovetail.testing import ordered
from dovetail.testing.compare import _counted
from tests.recovery.kill.running import CLUSTER, Job, kill_all, wait_for_a_batch

BATCHES = 16
KILLS = 10  # of a round, about as many as it has batches
VICTIMS = ("worker", "worker", "executor", "driver")
QUERIES: list[dict[str, Any]] = [
    {"own": True, "how": "left", "order": "hold"},
    {"own": True},
    {"own": True, "how": "full"},
    {"own": True, "how": "semi", "order": "hold"},
    {"own": True, "how": "anti"},
    {"own": True, "order": "sync"},
]
SETTINGS = {
    "spark.task.maxFailures": "100",
    "spark.stage.maxConsecutiveAttempts": "100",
    "spark.deploy.maxExecutorRetries": "-1",
}


def main() -> int:
    """Whether a row was lost, repeated or wrong, as the exit code."""
    asked = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    told: Counter[str] = Counter(dict.fromkeys(("kills", "rounds", "migrations", "lost", "repeated", "wrong"), 0))
    number = 0
    try:
        while told["kills"] < asked.kills:
            told += _round(asked.seed + number, min(KILLS, asked.kills - told["kills"]))
            number += 1
            print(json.dumps(told), file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("ended early", file=sys.stderr)
    names = ("kills", *sorted({*VICTIMS}), "rounds", "migrations", "lost", "repeated", "wrong", "disordered")
    counts = {name: told[name] for name in names}
    print(json.dumps(counts) if asked.json else "\n".join(f"{name:12} {value}" for name, value in counts.items()))
    return int(any(counts[name] for name in ("lost", "repeated", "wrong", "disordered")))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Random kills of a pipeline on Spark.")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _round(seed: int, kills: int) -> Counter[str]:
    """One pipeline, killed so many times, or fewer if it comes to its end before."""
    chance, told = random.Random(seed), Counter({"rounds": 1})
    options = {**QUERIES[seed % len(QUERIES)], "settings": SETTINGS, "steps": [3]}
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    job = Job(folder, CLUSTER, options, seed, BATCHES)
    process: Popen[bytes] | None = None
    try:
        while told["kills"] < kills:
            process = process or job.start()
            _wait(process, job, chance)
            if process.poll() is not None:
                break
            victim = _killed(process, chance)
            told += Counter({"kills": 1, victim: 1} if victim else {})
            if victim == "driver":
                process = None
                if chance.random() < 0.7 and list((folder / "checkpoint" / "commits").glob("[0-9]*")):
                    told["migrations"] += _may_migrate(folder, options, chance)
        if process is None or process.wait() != 0:
            job.finish()
        return told + _suffered(job)
    finally:
        if process is not None and process.poll() is None:
            kill_all(process)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: "Popen[bytes]", job: Job, chance: random.Random) -> None:
    """Until it has gone on from where it was, or is at a migration, and a moment more."""
    steps = len(job.options["steps"])
    checkpoint = job.path / (f"checkpoint_{steps - 1}" if steps > 1 else "checkpoint")
    if steps > 1 and not checkpoint.exists() and chance.random() < 0.5:
        while process.poll() is None and not Path(f"{checkpoint}.migrating").exists():
            time.sleep(0.05)
    else:
        wait_for_a_batch(process, job.path, checkpoint.name)
    time.sleep(chance.random() * 3)


def _may_migrate(folder: Path, options: dict[str, Any], chance: random.Random) -> int:
    """Another number of partitions from the next start on, once the last one is in place."""
    steps = options["steps"]
    if len(steps) > 1 and not list((folder / f"checkpoint_{len(steps) - 1}" / "commits").glob("[0-9]*")):
        return 0
    steps.append(chance.choice([each for each in (1, 2, 3, 4) if each != steps[-1]]))
    return 1


def _killed(process: "Popen[bytes]", chance: random.Random) -> str | None:
    """Kill one of a pipeline's processes, or all of them; who it was."""
    victim = chance.choice(VICTIMS)
    if victim == "driver":
        kill_all(process)
        return victim
    own = [each for each in Path("/proc").glob("[0-9]*") if _session(each) == process.pid]
    commands = {int(each.name): _command(each) for each in own}
    marked = "CoarseGrainedExecutorBackend" if victim == "executor" else "pyspark.worker"
    found = sorted(pid for pid, command in commands.items() if marked in command)
    if not found:
        return None
    try:
        os.kill(chance.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return None
    return victim


def _session(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return 0


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _suffered(job: Job) -> Counter[str]:
    rows, wanted = job.found_and_expected()
    got, expected = _counted(rows), _counted(wanted)
    extra = got - expected
    repeated = sum(count for row, count in extra.items() if row in expected)
    return Counter(
        {
            "lost": (expected - got).total(),
            "repeated": repeated,
            "wrong": extra.total() - repeated,
            "disordered": int("order" in job.options and not ordered(rows)),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
