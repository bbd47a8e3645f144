"""A process that spills, saves what it has after each batch, and is killed at a chosen access to its disk.

python -m tests.recovery.spill.job FOLDER PHASE COUNT      PHASE: write, pause, pass, or never
"""

import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

from dovetail.engine.policies.spill.files import FileStore
from dovetail.engine.policies.spill.spill import Spill
from tests.recovery.spill.input import events, query


def kill_at(owner: Any, method: str, count: int) -> None:
    """Let the process die at the count-th call."""
    real, calls = getattr(owner, method), iter(range(count))

    def dies(*arguments: Any) -> Any:
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments)

    setattr(owner, method, dies)


def arrange(phase: str, count: int) -> None:
    if phase == "write":
        kill_at(FileStore, "write", count)
    elif phase in ("pause", "pass"):
        begin = {"pause": "_probe_memory", "pass": "_pass"}[phase]
        real = getattr(Spill, begin)

        def armed(self: Spill, *arguments: Any) -> Any:
            kill_at(FileStore, "read", count)
            yield from real(self, *arguments)

        setattr(Spill, begin, armed)


def main(folder: Path, phase: str, count: int) -> None:
    arrange(phase, count)
    saved = folder / "saved"
    done, snapshot, rows = pickle.loads(saved.read_bytes()) if saved.exists() else (0, None, [])
    run = query(folder / "spill").local(snapshot=snapshot)
    steps = events()
    for place, happening in enumerate(steps):
        if place >= done:
            rows.append(happening(run))
            kept = run.snapshot() if place + 1 < len(steps) else None
            (folder / "next").write_bytes(pickle.dumps((place + 1, kept, rows)))
            (folder / "next").replace(saved)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
