"""Reports of one run on disk: lines of JSON in a few small files that only their owner can read.

    reports/                             0700
      alarms-6af92b4d1c09ab-000003.jsonl       0600, full: not written to any more
      alarms-6af92b4d1c09ab-000004.jsonl       0600, the one that grows

A file that has grown to ``FILE_BYTES`` is full and the next begins; the newest ``KEPT_FILES`` of a run stay, so a run
takes a bounded place however long it lasts. Every file begins with the line that says whose reports these are, so
each can be read without the others. A run's id begins with the second of its start, so that files sort by it. Files of
runs that ended long ago go when another run starts.
"""

import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from errno import ENOSPC
from pathlib import Path
from uuid import uuid4

FILE_BYTES = 4_000_000  # read in some hundredths of a second
KEPT_FILES = 4  # a run takes at most 16 MB
KEPT_SECONDS = 24 * 3600.0  # a day: yesterday's runs can still be looked at
KEPT_IN_FOLDER = 200  # a page opens that many quickly
NAME = re.compile(r"[A-Za-z0-9_.-]{1,48}-[0-9a-f]{14}-[0-9]{6}\.jsonl")
# never a file or a link that somebody put there
_CREATE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


class ReportFile:
    """Where one run writes; ``first`` is the line that every file begins with."""

    def __init__(self, folder: Path, query: str, run: str, first: bytes) -> None:
        self._folder = folder
        self._stem = f"{_plain(query)}-{run}"
        self._first = first
        self._number = -1
        self._bytes = 0
        self._file: int | None = None

    def write(self, line: bytes) -> None:
        """One more line, in one write; OSError if the disk will not have it."""
        if self._file is None or self._bytes + len(line) > FILE_BYTES:
            self._next()
        self._append(line)

    def begin(self) -> None:
        """Have the first line written before there is anything to report."""
        if self._file is None:
            self._next()

    def touch(self) -> None:
        """Say that the run is alive though it has nothing to report."""
        if self._file is not None:
            os.utime(self._file)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _next(self) -> None:
        """Begin another file; only when that has worked does the oldest go."""
        self.close()
        private_folder(self._folder)
        if self._number < 0:
            tidy(self._folder)
        path = self._path(self._number + 1)
        path.unlink(missing_ok=True)  # begun before, when the disk had no room for its first line
        self._file, self._bytes = os.open(path, _CREATE, 0o600), 0
        self._append(self._first)
        self._number += 1
        with suppress(OSError):
            self._path(self._number - KEPT_FILES).unlink()

    def _append(self, line: bytes) -> None:
        """A line that fits only in part ends the file, so that the next does not go on in the middle of it."""
        assert self._file is not None, "write opens one"
        try:
            written = os.write(self._file, line)
            if written < len(line):
                raise OSError(ENOSPC, "a report was cut")
        except OSError:
            self.close()
            raise
        self._bytes += written

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._stem}-{number:06d}.jsonl"


def private_folder(folder: Path) -> None:
    """Make the folder, for its owner alone; one that is there already stays as it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def report_files(folder: Path) -> list[Path]:
    """The files in a folder that have the name of a report: run by run as they started, and each in its order."""
    try:
        found = [path for path in folder.iterdir() if NAME.fullmatch(path.name)]
        return sorted(found, key=lambda path: path.name.rsplit("-", 2)[1:])
    except OSError:
        return []


def new_run(now: float) -> str:
    """An id for a run that starts now; ids sort by their start.

    >>> new_run(10.0) < new_run(11.0)
    True
    """
    return f"{int(now):08x}{uuid4().hex[:6]}"


def tidy(folder: Path) -> None:
    """Remove the files of runs that are long over, and the oldest if there are very many."""
    aged = sorted(_aged(report_files(folder)), reverse=True)
    limit = time.time() - KEPT_SECONDS
    for at, (changed, path) in enumerate(aged):
        if changed < limit or at >= KEPT_IN_FOLDER:
            with suppress(OSError):
                path.unlink()


def _aged(paths: Iterable[Path]) -> Iterable[tuple[float, Path]]:
    for path in paths:
        with suppress(OSError):
            yield path.lstat().st_mtime, path


def _plain(query: str) -> str:
    """A query's name as part of a file's.

    >>> _plain("../hot & wet")
    'hot_wet'
    """
    return re.sub(r"[^A-Za-z0-9-]+", "_", query).strip("_-")[:40] or "join"
