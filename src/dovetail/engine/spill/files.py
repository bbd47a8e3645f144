"""Parts as Arrow files in a folder that only its owner may read, and that does not outlive the run.

    chosen folder/dovetail-k3x9.lock       held for as long as the process lives
    chosen folder/dovetail-k3x9/7.arrow    part 7

A folder whose lock nobody holds was left by a crash: the next run that spills to the same place removes it. The lock is
made before the folder, and counts only if it is still the file of that name once it is held.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
import weakref
from pathlib import Path

import pyarrow as pa

from dovetail.errors import BudgetError, StateError

_PREFIX = "dovetail-"


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
        try:
            path = self._path(number)
            unfinished = path.with_suffix(".part")
            try:
                with pa.OSFile(str(unfinished), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
                    writer.write_batch(rows)
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
        try:
            return pa.ipc.open_file(pa.py_buffer(self._path(number).read_bytes())).get_batch(0)
        except (OSError, pa.ArrowInvalid) as error:
            raise StateError(
                f"spilled part {number} in {str(self._folder)!r} cannot be read: {error}. Something removed or damaged "
                "it while the run needed it; go on from a snapshot, and keep the folder out of clean-up jobs."
            ) from error

    def delete(self, number: int) -> None:
        self._path(number).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder and let go of its lock."""
        if self._folder is not None:
            self._finish()
            self._folder = None

    def _path(self, number: int) -> Path:
        if self._folder is None:
            self._folder, lock = _private_folder(self._parent)
            self._finish = weakref.finalize(self, _remove, self._folder, lock)
        return self._folder / f"{number}.arrow"


def _private_folder(parent: Path) -> tuple[Path, int]:
    """A new folder that only its owner may enter, and the lock that says it is in use."""
    while True:
        folder = parent / f"{_PREFIX}{secrets.token_hex(6)}"
        lock = os.open(_lock_of(folder), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _lock_of(folder).exists():
            folder.mkdir(mode=0o700)
            return folder, lock
        os.close(lock)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _sweep(parent: Path) -> None:
    """Remove what runs that are no more left behind."""
    for path in parent.glob(f"{_PREFIX}*.lock"):
        try:
            lock = os.open(path, os.O_RDWR)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
        else:
            _remove(path.with_suffix(""), lock)


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _lock_of(folder).unlink(missing_ok=True)
    os.close(lock)
