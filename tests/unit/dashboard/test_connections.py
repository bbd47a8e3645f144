"""Slow and silent clients of the page: few threads, little time, and readers get their answers."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from dovetail.dashboard.connections import MOST, Connections
from dovetail.dashboard.server import Dashboard
from tests.unit.dashboard.reports import report, start, write

REQUEST_S = 1.0
BYTE_EVERY_S = 0.1
SENT_AT_MOST = 100


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Dashboard]:
    write(tmp_path, [start(query="alarms"), report(0), report(1)])
    dashboard = Dashboard(tmp_path, connections=Connections(request_s=REQUEST_S))
    dashboard.start()
    yield dashboard
    dashboard.stop()


def where(page: Dashboard) -> tuple[str, int]:
    host, port = page.address.removeprefix("http://").rstrip("/").split(":")
    return host, int(port)


def status_of(page: Dashboard) -> int:
    connection = http.client.HTTPConnection(*where(page), timeout=10)
    connection.request("GET", "/api/joins")
    return connection.getresponse().status


def test_many_that_say_nothing_have_few_threads_and_keep_nobody_out(page: Dashboard) -> None:
    before = threading.active_count()
    with ExitStack() as opened:
        for _ in range(3 * MOST):
            opened.enter_context(socket.create_connection(where(page), timeout=10))
        assert status_of(page) == 200
        assert threading.active_count() - before <= MOST + 5


@pytest.mark.parametrize("sent", [b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "], ids=["request line", "headers"])
def test_one_that_sends_slowly_is_ended(page: Dashboard, sent: bytes) -> None:
    with socket.create_connection(where(page), timeout=BYTE_EVERY_S) as slow:
        slow.sendall(sent)
        assert any(ended(slow) for _ in range(SENT_AT_MOST)), "it may go on for ever"
    assert status_of(page) == 200


def ended(slow: socket.socket) -> bool:
    """Send one more byte, and see whether the other side is still there."""
    try:
        slow.sendall(b"x")
        return slow.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_one_that_never_reads_its_answers_is_ended(page: Dashboard) -> None:
    with socket.create_connection(where(page), timeout=BYTE_EVERY_S) as greedy, pytest.raises(ConnectionError):
        ask_without_reading(greedy)
    assert status_of(page) == 200


def ask_without_reading(greedy: socket.socket) -> None:
    """Send requests until the other side is gone, or for much longer than it should take."""
    stop = time.monotonic() + 30 * REQUEST_S
    while time.monotonic() < stop:
        with suppress(TimeoutError):
            greedy.sendall(b"GET /uplot.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)


def test_one_that_asks_again_and_again_stays() -> None:
    now = [0.0]
    connections = Connections(most=2, request_s=10, clock=lambda: now[0])
    busy, silent = socket.socketpair()[0], socket.socketpair()[0]
    connections.add(silent)
    connections.add(busy)
    for at in (6.0, 12.0, 18.0):
        now[0] = at
        connections.answered(busy)
        connections.end_slow()
        assert len(connections) == (2 if at < 10 else 1)
    connections.remove(busy)
    connections.remove(silent)
    assert len(connections) == 0


def test_the_one_that_was_silent_for_longest_gives_way() -> None:
    now = [0.0]
    connections = Connections(most=2, clock=lambda: now[0])
    first, second, third = (socket.socketpair() for _ in range(3))
    connections.add(first[0])
    connections.add(second[0])
    now[0] = 1.0
    connections.answered(first[0])
    connections.add(third[0])
    assert second[1].recv(1) == b""
    first[1].setblocking(False)
    with pytest.raises(BlockingIOError):
        first[1].recv(1)
