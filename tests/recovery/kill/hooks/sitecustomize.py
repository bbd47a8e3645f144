"""In Python processes of a job under test: kill the Java process above at a chosen point of the operator's work.

``KILL_AT`` is "point:count", the point being one of recall, join, save, saved, and where Dovetail reads and writes
files or topics itself also read, aside, commit, committed, for a topic sent (all rows of a batch are at the broker, in
a transaction that is open), and when a query is finished close, finishing, finished;
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


def _named(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def _java() -> int:
    """The Java process that this one works for; 0 in the driver.

    It is above, or below the driver beside the server of which this process is a fork.
    """
    above, forked = os.getppid(), False
    while above > 1:
        if _named(above) == "java":
            return above
        server = "dovetail.runtime.spark.fork_server" in Path(f"/proc/{above}/cmdline").read_text()
        if forked and not server:
            children = Path(f"/proc/{above}/task/{above}/children").read_text().split()
            return next(int(child) for child in children if _named(int(child)) == "java")
        above, forked = _parent(above), server
    return 0


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
    java = _java()
    if java:
        os.kill(java, signal.SIGKILL)
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

    _install_ends()
    _install_topics()
    _install_finish()
    for name, hooked in {"_recall": recalling, "_save": saving, "_results": joining}.items():
        setattr(JoinOperator, name, hooked)


def _install_ends() -> None:
    from dovetail.runtime.spark.sink.kafka import KafkaTopic
    from dovetail.runtime.spark.sink.parquet import ParquetFolder
    from dovetail.runtime.spark.source import read

    decoded, columns, write = vars(read)["decoded"], vars(read)["columns_of"], ParquetFolder.write

    def reading(*arguments: Any) -> Any:
        for batch in decoded(*arguments):
            _passes("read")
            yield batch

    def reading_values(*arguments: Any) -> Any:
        _passes("read")
        return columns(*arguments)

    def writing(self: Any, *arguments: Any) -> Any:
        written = write(self, *arguments)
        _passes("aside")
        return written

    setattr(read, "decoded", reading)  # noqa: B010
    setattr(read, "columns_of", reading_values)  # noqa: B010
    setattr(ParquetFolder, "write", writing)  # noqa: B010
    for place in (ParquetFolder, KafkaTopic):
        setattr(place, "commit", _around_commit(place.commit))  # noqa: B010


def _around_commit(commit: Any) -> Any:
    def committing(self: Any, *arguments: Any) -> None:
        _passes("commit")
        commit(self, *arguments)
        _passes("committed")

    return committing


def _install_topics() -> None:
    from dovetail.runtime.kafka.producer import Producing

    make = Producing.__init__

    def making(self: Any, *arguments: Any) -> None:
        make(self, *arguments)
        self._producer = _Sending(self._producer)

    setattr(Producing, "__init__", making)  # noqa: B010


class _Sending:
    """A producer that has sent all it was given before a transaction is committed."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)

    def commit_transaction(self, *arguments: Any) -> None:
        self._producer.flush(60)
        _passes("sent")
        self._producer.commit_transaction(*arguments)


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
