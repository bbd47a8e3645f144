"""What Spark's Java process says, in a private file that goes when this process ends, unless something went wrong.

    folder for temporary files/
      dovetail-spark-x7k2m9/          0700, a name that nobody can know before
        errors.log                    0600, locked for as long as this process or its Java lives

Files of processes that are gone are removed by a later one, after a day; only those that are ours and locked by nobody.
"""

import atexit
import fcntl
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX, LOG = "dovetail-spark-", "errors.log"
KEPT_S = 24 * 3600.0  # long enough to look at what went wrong
_CREATE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Chatter:
    """The log of one process; made when it is first needed."""

    def __init__(self) -> None:
        self._owner = 0
        self._path: Path | None = None
        self._file = -1
        self._kept = False

    @contextmanager
    def sent_away(self) -> Iterator[None]:
        """Processes started inside write their errors to the log for as long as they live."""
        self._open()
        ours = os.dup(2)
        os.dup2(self._file, 2)
        try:
            yield
        finally:
            os.dup2(ours, 2)
            os.close(ours)

    def keep(self) -> Path | None:
        """Something went wrong: the log stays, and this is where; None if there is none."""
        self._kept = self._ours
        return self._path if self._ours else None

    def end(self) -> None:
        """Remove the log, unless it is kept or the process ends because of an error; then say where it is."""
        if not self._ours or self._path is None:
            return
        if not self._kept and hasattr(sys, "last_value") and self._path.exists():
            sys.stderr.write(f"dovetail: what Spark said is in {self._path}\n")
        elif not self._kept:
            shutil.rmtree(self._path.parent, ignore_errors=True)
        self._path = None

    @property
    def _ours(self) -> bool:
        """A forked child knows of the log of its parent, and leaves it alone."""
        return self._path is not None and self._owner == os.getpid()

    def _open(self) -> None:
        if self._ours:
            return
        sweep(Path(tempfile.gettempdir()))
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._path, self._owner, self._kept = folder / LOG, os.getpid(), False
        self._file = os.open(self._path, _CREATE, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        atexit.register(self.end)


def sweep(parent: Path) -> None:
    """Remove the logs in a folder whose processes are gone for a day."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if _is_ours(folder.lstat(), stat.S_ISDIR) and [path.name for path in folder.iterdir()] == [LOG]:
                _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    log = os.open(folder / LOG, _LOOK)
    try:
        found = os.fstat(log)
        if _is_ours(found, stat.S_ISREG) and found.st_mtime < time.time() - KEPT_S:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError while somebody has it
            shutil.rmtree(folder)
    finally:
        os.close(log)


def _is_ours(found: os.stat_result, kind: Callable[[int], bool]) -> bool:
    return kind(found.st_mode) and found.st_uid == os.getuid()


chatter = Chatter()
