"""In Python processes of a job under test: kill the Java process above at a chosen point of the operator's work.

``KILL_AT`` is "point:count", the point being one of recall, join, save, saved, and where Dovetail reads and writes
files itself also read, aside, commit, committed, and when a query is finished close, finishing, finished;
``KILL_NOTES`` is a folder for notes, so that all workers count together and the kill happens once. Rows go by
files where that is possible, however few they are. With ``KILL_WORKER`` this process is killed instead.
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
    if os.environ.get("KILL_WORKER"):
        os.kill(os.getpid(), signal.SIGKILL)
    above = os.getppid()
    while above > 1 and Path(f"/proc/{above}/comm").read_text().strip() != "java":
        above = _parent(above)  # worker -> daemon -> Java, or straight to it
    if above > 1:
        os.kill(above, signal.SIGKILL)
    else:
        os.killpg(0, signal.SIGKILL)  # this is the driver, with its Java
    signal.pause()


def _install() -> None:
    from dovetail.runtime.spark import pack
    from dovetail.runtime.spark.operator import JoinOperator

    vars(pack)["LEAST_BYTES"] = 0
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

    _install_files()
    _install_finish()
    for name, hooked in {"_recall": recalling, "_save": saving, "_results": joining}.items():
        setattr(JoinOperator, name, hooked)


def _install_files() -> None:
    from dovetail.runtime.spark.sink.parquet import ParquetFolder
    from dovetail.runtime.spark.source import read

    decoded, write, commit = vars(read)["decoded"], ParquetFolder.write, ParquetFolder.commit

    def reading(*arguments: Any) -> Any:
        for batch in decoded(*arguments):
            _passes("read")
            yield batch

    def writing(self: Any, *arguments: Any) -> Any:
        written = write(self, *arguments)
        _passes("aside")
        return written

    def committing(self: Any, *arguments: Any) -> None:
        _passes("commit")
        commit(self, *arguments)
        _passes("committed")

    for place, name, hooked in (
        (read, "decoded", reading),
        (ParquetFolder, "write", writing),
        (ParquetFolder, "commit", committing),
    ):
        setattr(place, name, hooked)


def _install_finish() -> None:
    from dovetail.runtime.spark import finish

    closed, mark = finish.CloseBucket.__call__, vars(finish)["mark_finished"]

    def closing(self: Any, state: Any) -> Any:
        _passes("close")
        return closed(self, state)

    def marking(*arguments: Any) -> None:
        _passes("finishing")
        mark(*arguments)
        _passes("finished")

    setattr(finish.CloseBucket, "__call__", closing)  # noqa: B010
    setattr(finish, "mark_finished", marking)  # noqa: B010


if "KILL_AT" in os.environ:
    _install()
