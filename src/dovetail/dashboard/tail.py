"""New lines of all report files in a folder, each of them once.

Files grow, end, vanish and follow one another while this looks. A line counts when its end is there; one that is
too long, whatever is not a line of JSON, and what a newer release wrote are counted as bad and left behind. Only
ordinary files are opened: a pipe or a link of the right name could make the reader wait, or read something else.
"""

import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dovetail.observe.report_file import report_files
from dovetail.observe.reporter import VERSION

HISTORY_S = 3600.0  # the last hour, which is what the page plots
LINE_BYTES = 4_000_000  # far above any report: a longer line is none
LOOK_BYTES = 32_000_000  # read at once: some tenths of a second, so that the page answers
# never a link or a pipe that somebody put there
_OPEN = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass
class _File:
    """How far a file was read, and the beginning of a line whose end was not there yet."""

    at: int = 0
    begun: bytes = b""
    skipping: bool = False
    changed: float = 0.0


@dataclass
class Tail:
    """Reads a folder again and again."""

    folder: Path
    clock: Callable[[], float] = time.time
    bad: int = 0
    _files: dict[str, _File] = field(default_factory=dict)

    def new(self) -> Iterator[tuple[dict[str, Any], float]]:
        """What came since the last look: each line, and when its file was last touched."""
        paths = self._recent(report_files(self.folder))
        names = {path.name for path in paths}
        self._files = {name: file for name, file in self._files.items() if name in names}
        left = LOOK_BYTES
        for path in paths:
            file = self._files.setdefault(path.name, _File())
            fresh = self._read(path, file, left)
            left -= len(fresh)
            for line in self._lines(file, fresh):
                value = self._parsed(line)
                if value is not None:
                    yield value, file.changed

    def _recent(self, paths: list[Path]) -> list[Path]:
        """Files that were written to in the last hour; if there are none, those of the run that was the last."""
        written = {path: _changed(path) for path in paths}
        newest = max(written, key=lambda path: written[path], default=None)
        since = self.clock() - HISTORY_S
        last = newest.name.rsplit("-", 1)[0] if newest else ""
        alone = newest is not None and written[newest] < since
        return [path for path in paths if (path.name.startswith(last) if alone else written[path] >= since)]

    def touched(self) -> dict[str, float]:
        """When each run last gave a sign of life, by the run's id."""
        runs: dict[str, float] = {}
        for name, file in self._files.items():
            run = name.rsplit("-", 2)[1]
            runs[run] = max(file.changed, runs.get(run, 0.0))
        return runs

    def _read(self, path: Path, file: _File, most: int) -> bytes:
        try:
            opened = os.open(path, _OPEN)
        except OSError:
            return b""
        try:
            found = os.fstat(opened)
            if not stat.S_ISREG(found.st_mode):
                return b""
            if found.st_size < file.at:  # another file under the same name
                file.at, file.begun, file.skipping = 0, b"", False
            file.changed = found.st_mtime
            fresh = os.pread(opened, min(most, found.st_size - file.at), file.at)
        except OSError:
            return b""
        finally:
            os.close(opened)
        file.at += len(fresh)
        return fresh

    def _lines(self, file: _File, fresh: bytes) -> Iterator[bytes]:
        *whole, begun = (file.begun + fresh).split(b"\n")
        if file.skipping and whole:
            whole, file.skipping = whole[1:], False
        yield from whole
        file.begun = begun
        if file.skipping or len(begun) > LINE_BYTES:
            self.bad += not file.skipping
            file.begun, file.skipping = b"", True

    def _parsed(self, line: bytes) -> dict[str, Any] | None:
        try:
            value = json.loads(line) if len(line) <= LINE_BYTES else None
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or value.get("v", VERSION) not in range(1, VERSION + 1):
            self.bad += 1
            return None
        return value


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
