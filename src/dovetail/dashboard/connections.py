"""The open connections of a server: not too many, and none that takes too long over a request.

    add       one more; if there were as many as may be, the one that has said nothing for longest gives way
    answered  a request was answered, and the time for the next begins
    end_slow  those whose time is over, whether they send slowly, read slowly or say nothing

A connection that is ended here is shut down, and the thread that reads from it or writes to it finds that out.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from socket import SHUT_RDWR, socket
from threading import Lock

MOST = 64  # a browser opens six to a page, and every one has a thread here
REQUEST_S = 10.0  # the page asks every second; a request and its answer take milliseconds


class Connections:
    """Sockets by the time since which each has taken for its request, the oldest first."""

    def __init__(
        self, most: int = MOST, request_s: float = REQUEST_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._request_s = request_s
        self._clock = clock
        self._since: OrderedDict[socket, float] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._since)

    def add(self, connection: socket) -> None:
        with self._lock:
            if len(self._since) >= self._most:
                self._end_oldest()
            self._since[connection] = self._clock()

    def answered(self, connection: socket) -> None:
        with self._lock:
            if connection in self._since:
                self._since[connection] = self._clock()
                self._since.move_to_end(connection)

    def remove(self, connection: socket) -> None:
        with self._lock:
            self._since.pop(connection, None)

    def end_slow(self) -> None:
        with self._lock:
            latest = self._clock() - self._request_s
            while self._since and next(iter(self._since.values())) <= latest:
                self._end_oldest()

    def _end_oldest(self) -> None:
        oldest, _ = self._since.popitem(last=False)
        with suppress(OSError):  # it has gone by itself
            oldest.shutdown(SHUT_RDWR)
