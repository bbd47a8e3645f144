"""In Python workers of a job under test: kill the Java process above at a chosen point of the operator's work.

``KILL_AT`` is "point:count", the point being one of recall, join, save, saved; ``KILL_NOTES`` is a folder for notes, so
that all workers count together and the kill happens once.
"""

import os
import signal
import uuid
from pathlib import Path
from typing import Any


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _passes(point: str) -> None:
    wanted, count = os.environ["KILL_AT"].split(":")
    notes = Path(os.environ["KILL_NOTES"])
    if point != wanted:
        return
    (notes / f"{point}-{uuid.uuid4().hex}").touch()
    if len(list(notes.glob(f"{point}-*"))) < int(count):
        return
    try:
        os.close(os.open(notes / "killed", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(_parent(os.getppid()), signal.SIGKILL)  # worker -> daemon -> Java
    signal.pause()


def _install() -> None:
    from dovetail.runtime.spark.operator import JoinOperator

    recall, save, results = JoinOperator._recall, JoinOperator._save, JoinOperator._results

    def recalling(self: Any, *arguments: Any) -> Any:
        _passes("recall")
        return recall(self, *arguments)

    def joining(self: Any, *arguments: Any) -> Any:
        for batch in results(self, *arguments):
            yield batch
            _passes("join")

    def saving(self: Any, *arguments: Any) -> Any:
        _passes("save")
        saved = save(self, *arguments)
        _passes("saved")
        return saved

    for name, hooked in {"_recall": recalling, "_save": saving, "_results": joining}.items():
        setattr(JoinOperator, name, hooked)


if "KILL_AT" in os.environ:
    _install()
