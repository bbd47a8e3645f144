"""Parts as Arrow files in a folder that only its owner may read, and that does not outlive the run.

    chosen folder/dovetail-k3x9.lock       held for as long as the process lives; says that the folder is ours
    chosen folder/dovetail-k3x9/7.arrow    part 7, with its checksum

A folder whose lock nobody holds was left by a crash: the next run that spills to the same place removes it. The lock is
made before the folder, and counts only if it is still the file of that name once it is held. A process that was forked
off the run's own reads its files at most, and leaves them where they are when it ends.
"""

import fcntl
import os
import secrets
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from dovetail.engine.buffer.sealed import seal_batch, unseal_batch
from dovetail.errors import BudgetError, StateError

_PREFIX = "dovetail-"
_MARK = b"spilled rows of a Dovetail run\n"  # what our locks hold; others' files of such names are left alone
_OURS = ("*.arrow", "*.part")


class FileStore:
    """The files of one run; the folder is made with the first of them."""

    is_state = False

    def __init__(self, folder: str | None = None) -> None:
        self._parent = Path(folder or tempfile.gettempdir())
        self._folder: Path | None = None
        try:
            self._parent.mkdir(parents=True, exist_ok=True)
            _sweep(self._parent)
        except OSError as error:
            raise BudgetError(
                f"cannot spill to {str(self._parent)!r}: {error.strerror}; choose another folder"
            ) from error

    def write(self, number: int, rows: pa.RecordBatch) -> None:
        """Into a new file first, so that a file is whole or not there."""
        self._check_process()
        try:
            path = self._path(number)
            unfinished = path.with_suffix(".part")
            try:
                with pa.OSFile(str(unfinished), "wb") as sink:
                    sink.write(seal_batch(rows, str(path)))
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)
        except OSError as error:
            raise BudgetError(
                f"cannot spill {rows.nbytes:,} bytes to {str(self._parent)!r}: {error}. Nothing was lost: the rows "
                "are still in memory. Free some disk space and go on, or resume a snapshot with another folder."
            ) from error

    def read(self, number: int) -> pa.RecordBatch:
        """The rows of a part, read at once: it is small, and mapping it into memory would take longer."""
        path = self._path(number)
        try:
            return unseal_batch(pa.py_buffer(path.read_bytes()), str(path))
        except OSError as error:
            raise StateError(
                f"spilled part {number} in {str(self._folder)!r} cannot be read: {error}. Something removed or damaged "
                "it while the run needed it; go on from a snapshot, and keep the folder out of clean-up jobs."
            ) from error

    def delete(self, number: int) -> None:
        self._check_process()
        self._path(number).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder and let go of its lock."""
        if self._folder is not None:
            self._finish()
            self._folder = None

    def _path(self, number: int) -> Path:
        if self._folder is None:
            self._folder, lock = _private_folder(self._parent)
            self._owner = os.getpid()
            self._finish = weakref.finalize(self, _remove_own, self._owner, self._folder, lock)
        return self._folder / f"{number}.arrow"

    def _check_process(self) -> None:
        if self._folder is not None and self._owner != os.getpid():
            raise StateError(
                f"the rows spilled to {str(self._folder)!r} belong to the run in process {self._owner}, which this "
                "process was forked off. Go on with it there, or here from a snapshot: query.local(snapshot=...)."
            )


def _private_folder(parent: Path) -> tuple[Path, int]:
    """A new folder that only its owner may enter, and the lock that says it is in use."""
    while True:
        folder = parent / f"{_PREFIX}{secrets.token_hex(6)}"
        lock = os.open(_lock_of(folder), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _lock_of(folder).exists():
            os.write(lock, _MARK)
            folder.mkdir(mode=0o700)
            return folder, lock
        os.close(lock)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _sweep(parent: Path) -> None:
    """Remove what runs that are no more left behind."""
    for path in parent.glob(f"{_PREFIX}*.lock"):
        try:
            lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            if _is_left(lock):
                _remove(path.with_suffix(""))
        finally:
            os.close(lock)


def _is_left(lock: int) -> bool:
    """Whether it is a lock of ours that nobody holds."""
    found = os.fstat(lock)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or os.read(lock, len(_MARK) + 1) != _MARK:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_own(owner: int, folder: Path, lock: int) -> None:
    """Remove the folder if this is the process that made it; a forked one lets go of its lock only."""
    if os.getpid() == owner:
        _remove(folder)
    os.close(lock)


def _remove(folder: Path) -> None:
    """Remove the parts, the folder if nothing else is in it, and its lock."""
    if not folder.is_symlink():
        for path in (path for kind in _OURS for path in folder.glob(kind)):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
    _lock_of(folder).unlink(missing_ok=True)
