"""What the reports of a folder say: the joins that were read so far, for the page and for exporters."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from typing import Any

from dovetail.dashboard.incoming import read_line
from dovetail.dashboard.joins import Join, Joins
from dovetail.dashboard.tail import Tail
from dovetail.dashboard.view import join_view, joins, state

LOOK_EVERY_S = 0.5  # reports come once a second


class Board:
    """What was read so far; a thread reads on."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self._clock = clock
        self._tail = Tail(folder, clock)
        self._joins = Joins()
        self._lock = Lock()

    def look(self) -> None:
        """Take what is new."""
        with self._lock:
            for value, _ in self._tail.new():
                line = read_line(value)
                if line is None:
                    self._tail.bad += 1
                else:
                    self._joins.add(line)

    def read_on(self, stop: Event) -> None:
        """Look again and again until told to stop."""
        while not stop.wait(LOOK_EVERY_S):
            with suppress(OSError):
                self.look()

    def entries(self) -> list[tuple[Join, str]]:
        """Every join that is known, and its state."""
        with self._lock:
            touched, now = self._tail.touched(), self._clock()
            return [(join, state(join, touched, now)) for join in self._joins.entries.values()]

    def joins(self) -> dict[str, Any]:
        with self._lock:
            found = joins(self._joins.entries, self._tail.touched(), self._clock())
            return {"folder": str(self.folder), "bad": self._tail.bad, "joins": found}

    def join(self, name: str, rows: int, text: str) -> dict[str, Any] | None:
        """One join, or None if there is none of that name."""
        with self._lock:
            found = self._joins.entries.get(name)
            return None if found is None else join_view(found, self._tail.touched(), self._clock(), rows, text)
