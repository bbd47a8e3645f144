"""The page's server: it answers questions, and there is nothing to tell it.

Requests other than GET and HEAD are refused, so is a request that was sent to another name than this machine's (a page
elsewhere could otherwise ask through the reader's browser). Answers may not load, run or embed anything from elsewhere.
Connections are few and have little time for a request, so that slow or silent ones cannot keep readers out.
"""

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dovetail.dashboard.board import Board
from dovetail.dashboard.connections import MOST, Connections

MOST_ROWS = 2000  # an answer stays below a megabyte
STATIC = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/plots.js": ("plots.js", "text/javascript; charset=utf-8"),
    "/plan.js": ("plan.js", "text/javascript; charset=utf-8"),
    "/shedding.js": ("shedding.js", "text/javascript; charset=utf-8"),
    "/words.js": ("words.js", "text/javascript; charset=utf-8"),
    "/uplot.js": ("uplot/uPlot.iife.min.js", "text/javascript; charset=utf-8"),
    "/uplot.css": ("uplot/uPlot.min.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_POLL_S = 0.1  # closing the page takes no longer than that
_OWN_NAMES = {"localhost", "127.0.0.1", "::1"}


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    server: "_Server"
    server_version = "dovetail"
    sys_version = ""
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        super().handle_one_request()
        self.server.connections.answered(self.connection)

    def do_GET(self) -> None:
        if not self._for_us():
            return self._send(HTTPStatus.FORBIDDEN, b"this page is only for this machine", "text/plain")
        asked = urlsplit(self.path)
        if asked.path in STATIC:
            name, kind = STATIC[asked.path]
            return self._send(HTTPStatus.OK, _static(name), kind)
        if asked.path == "/api/joins":
            return self._send_json(self.server.board.joins())
        if asked.path == "/api/join":
            return self._send_json(self._join(parse_qs(asked.query, keep_blank_values=True)))
        return self._send(HTTPStatus.NOT_FOUND, b"not here", "text/plain")

    do_HEAD = do_GET  # noqa: N815  # the name that the library looks for

    def _for_us(self) -> bool:
        host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        return self.server.open_to_all or host in _OWN_NAMES

    def _join(self, asked: dict[str, list[str]]) -> dict[str, Any] | None:
        rows = asked.get("rows", ["25"])[-1]
        most = min(int(rows), MOST_ROWS) if rows.isascii() and rows.isdigit() and len(rows) < 9 else 25
        return self.server.board.join(asked.get("name", [""])[-1], most, asked.get("text", [""])[-1])

    def _send_json(self, value: Any) -> None:
        status = HTTPStatus.NOT_FOUND if value is None else HTTPStatus.OK
        self._send(status, json.dumps(value, separators=(",", ":"), allow_nan=False).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: the terminal belongs to whoever runs the join."""


class _Server(ThreadingHTTPServer):
    """Knows what to show."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = MOST
    board: Board
    connections: Connections
    open_to_all = False

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        self.connections.remove(request)
        super().close_request(request)

    def service_actions(self) -> None:
        """What the library calls now and then."""
        self.connections.end_slow()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away is no event."""


class Dashboard:
    """The page over a folder of reports; ``port=0`` takes any that is free."""

    def __init__(
        self, folder: Path, host: str = "127.0.0.1", port: int = 0, connections: Connections | None = None
    ) -> None:
        self.board = Board(folder)
        self._server = _Server((host, port), _Handler)
        self._server.connections = connections if connections is not None else Connections()
        self._server.board = self.board
        self._server.open_to_all = host not in _OWN_NAMES
        self._stop = Event()
        self._threads = [
            Thread(target=self._read_on, name="dovetail reads reports", daemon=True),
            Thread(target=self._server.serve_forever, args=[_POLL_S], name="dovetail page", daemon=True),
        ]

    @property
    def address(self) -> str:
        """What to open in a browser."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/"

    def start(self) -> None:
        self.board.look()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()

    def _read_on(self) -> None:
        self.board.read_on(self._stop)


def _static(name: str) -> bytes:
    return files("dovetail.dashboard").joinpath("static", *name.split("/")).read_bytes()
