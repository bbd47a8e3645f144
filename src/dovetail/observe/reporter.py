"""How a running join tells others about itself without ever waiting for them.

    the join's thread     due? -> values -> queue (never waits: a full queue counts a loss)
    a thread of its own   queue -> one line of JSON -> one write (a disk that refuses counts a loss)

Reports are at least ``INTERVAL_S`` apart. They are further apart when they are large (a thousand streams) or when
making one takes long: the files grow by no more than ``BYTES_PER_S`` and the join gives away no more than ``SHARE`` of
its time; but a minute is the longest. While nothing is reported, the file is touched now and then, as a sign of life.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread, current_thread
from typing import Any

from dovetail.observe.report_file import ReportFile, new_run

VERSION = 1  # of the format of a report
INTERVAL_S = 1.0  # a page that changes faster cannot be read
BYTES_PER_S = 100_000  # a day of the largest reports is below 10 GB
SHARE = 0.01  # of the join's time
MOST_S = 60.0  # however large a report is, one comes every minute
SIGN_OF_LIFE_S = 5.0  # a page can tell within seconds that a run has died
WAITING = 8  # reports; a slow disk loses some instead of holding the join up
LAST_WORDS_S = 2.0  # what a slow disk may hold up the end of a run


class Reporter:
    """The reports of one run, in a folder; ``clock`` gives seconds since 1970, ``work`` those spent computing."""

    def __init__(
        self,
        folder: Path,
        query: str,
        about: Mapping[str, Any],
        clock: Callable[[], float] = time.time,
        work: Callable[[], float] = time.thread_time,
    ) -> None:
        self.folder = folder
        self.run = new_run(clock())
        self.lost = 0
        self._clock = clock
        self._work = work
        self._numbered = 0
        self._next_at = 0.0
        self._bytes = 0
        start = {"kind": "start", "query": query, "pid": os.getpid(), "at": clock(), **about}
        self._file = ReportFile(folder, query, self.run, self._line(start))
        self._queue: Queue[Mapping[str, Any] | None] = Queue(WAITING)
        self._thread = Thread(target=self._write_all, name=f"dovetail reports {self.run}", daemon=True)
        self._thread.start()

    @property
    def due(self) -> bool:
        """Whether it is time for another report."""
        return self._clock() >= self._next_at

    def report(self, make: Callable[[], Mapping[str, Any]]) -> None:
        """Have a report made and written; whatever goes wrong is counted and goes no further."""
        began, at = self._work(), self._clock()
        with self.careful():
            values = make()
            self._put({"kind": "report", "number": self._numbered, "at": at, "lost": self.lost, **values})
        self._numbered += 1
        rest_s = max(INTERVAL_S, self._bytes / BYTES_PER_S, (self._work() - began) / SHARE)
        self._next_at = self._clock() + min(rest_s, MOST_S)

    @contextmanager
    def careful(self) -> Iterator[None]:
        """Whatever goes wrong inside is counted, and ends here."""
        try:
            yield
        except Exception:
            self.lost += 1

    def close(self, reason: str | None = None) -> None:
        """The last words of a run; waits for them to be written, but not for long."""
        with suppress(Full):
            self._queue.put({"kind": "end", "at": self._clock(), "reason": reason, "lost": self.lost}, timeout=1)
            self._queue.put(None, timeout=1)
        if current_thread() is not self._thread:  # a run that is collected while its own report is written
            self._thread.join(LAST_WORDS_S)

    def _put(self, values: Mapping[str, Any]) -> None:
        try:
            self._queue.put_nowait(values)
        except Full:
            self.lost += 1

    def _write_all(self) -> None:
        with suppress(OSError):
            self._file.begin()
        while True:
            try:
                values = self._queue.get(timeout=SIGN_OF_LIFE_S)
            except Empty:
                with suppress(OSError):
                    self._file.touch()
                continue
            if values is None:
                return self._file.close()
            self._write(values)

    def _write(self, values: Mapping[str, Any]) -> None:
        try:
            line = self._line(values)
            self._bytes = len(line)
            self._file.write(line)
        except (OSError, TypeError, ValueError, RecursionError):
            self.lost += 1

    def _line(self, values: Mapping[str, Any]) -> bytes:
        text = json.dumps({"v": VERSION, "run": self.run, **values}, separators=(",", ":"), default=str)
        return text.encode("utf-8", "backslashreplace") + b"\n"
