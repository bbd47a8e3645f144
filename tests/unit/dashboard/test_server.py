"""The page's server: read-only, for this machine, nothing from elsewhere, and every name is only text."""

import http.client
import json
import re
import socket
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from dovetail.dashboard.server import STATIC, Dashboard
from tests.unit.dashboard.reports import report, start, write

STATIC_FILES = files("dovetail.dashboard").joinpath("static")
EVIL = "<img src=x onerror=alert(1)>'\"&"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    folder = tmp_path_factory.mktemp("reports")
    write(folder, [start(query=EVIL), report(0), report(1)])
    dashboard = Dashboard(folder)
    dashboard.start()
    yield dashboard
    dashboard.stop()


def ask(page: Dashboard, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    host, port = page.address.removeprefix("http://").rstrip("/").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer, answer.read()


def test_it_listens_on_this_machine_only(page: Dashboard) -> None:
    assert page.address.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("path", STATIC)
def test_every_file_of_the_page_is_shipped_and_guarded(page: Dashboard, path: str) -> None:
    answer, body = ask(page, path)
    assert answer.status == 200
    assert len(body) > 100
    policy = answer.getheader("Content-Security-Policy") or ""
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.getheader("X-Content-Type-Options") == "nosniff"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_there_is_nothing_to_write_to(page: Dashboard, method: str) -> None:
    answer, _ = ask(page, "/api/joins", method)
    assert answer.status == 501


def test_head_has_no_body(page: Dashboard) -> None:
    answer, body = ask(page, "/", "HEAD")
    assert (answer.status, body) == (200, b"")


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/static/page.js", "//etc/passwd", "/%2e%2e/x", "/page.py", "/?../x"]
)
def test_nothing_but_the_page_can_be_had(page: Dashboard, path: str) -> None:
    answer, body = ask(page, path)
    assert answer.status == (200 if path == "/?../x" else 404)
    assert b"root:" not in body


def test_a_name_that_is_not_this_machines_is_refused(page: Dashboard) -> None:
    assert ask(page, "/api/joins", Host="evil.example")[0].status == 403
    assert ask(page, "/api/joins", Host="localhost:1234")[0].status == 200


def test_names_go_through_unharmed_and_as_data(page: Dashboard) -> None:
    answer, body = ask(page, "/api/joins")
    assert answer.getheader("Content-Type") == "application/json"
    assert json.loads(body)["joins"][0]["name"] == EVIL
    answer, body = ask(page, f"/api/join?name={quote(EVIL)}")
    assert json.loads(body)["name"] == EVIL


@pytest.mark.parametrize("query", ["", "name=nothing", "name=%00", "rows=-1", "rows=1e9", "rows=٣", "name=a&name=b"])
def test_odd_questions_have_an_answer(page: Dashboard, query: str) -> None:
    answer, body = ask(page, f"/api/join?{quote(query, safe='=&%')}")
    assert answer.status == 404
    assert json.loads(body) is None


def test_bytes_that_are_no_request_do_no_harm(page: Dashboard) -> None:
    host, port = page.address.removeprefix("http://").rstrip("/").split(":")
    for sent in (b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET http://[x HTTP/1.1\r\n\r\n"):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1 << 16)
    assert ask(page, "/api/joins")[0].status == 200


def own_files() -> list[Any]:
    return [STATIC_FILES.joinpath(name) for name, _ in STATIC.values() if not name.startswith("uplot/")]


@pytest.mark.parametrize("file", own_files(), ids=lambda file: file.name)
def test_the_page_puts_names_in_as_text_and_loads_nothing_from_elsewhere(file: Any) -> None:
    text = file.read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc", text)
    assert not re.search(r"https?://(?!www\.w3\.org/)|//cdn|@import", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|style=", text)


def test_the_plotting_library_runs_no_text_and_keeps_its_licence() -> None:
    library = STATIC_FILES.joinpath("uplot", "uPlot.iife.min.js").read_text()
    assert not re.search(r"\beval\(|new Function|fetch\(|XMLHttpRequest|WebSocket", library)
    assert "MIT License" in STATIC_FILES.joinpath("uplot", "LICENSE").read_text()
    notice = (Path(__file__).parents[3] / "NOTICE").read_text()
    version = re.search(r"v(\d+\.\d+\.\d+)", library)
    assert version is not None
    assert f"uPlot {version[1]}" in notice
