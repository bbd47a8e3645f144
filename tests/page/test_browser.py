"""The page in a real browser, headless: with data, without, with a thousand streams, with a dead query, in any names.

Needs Chromium: the program that $CHROMIUM names, or one on the path. What the page is made from is tested without
one, in tests/unit/dashboard.
"""

import os
import re
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dovetail.dashboard.server import Dashboard
from dovetail.observe.report_file import new_run
from tests.unit.dashboard.reports import report, start, stream, write

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell")
FOUND = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
EVIL = "<img src=x onerror=\"document.title='broken'\">"

pytestmark = pytest.mark.skipif(FOUND is None, reason="no Chromium here: install one, or name it in $CHROMIUM")


@dataclass(frozen=True)
class Shown:
    """What a browser made of the page."""

    html: str
    complaints: list[str]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", self.html))


def browse(address: str, folder: Path, *options: str) -> Shown:
    """The page after some seconds of its own time, and what the browser complained about."""
    command = [
        str(FOUND), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=4000", "--enable-logging=stderr", *options,
    ]  # fmt: skip
    if not any(option.startswith("--screenshot") for option in options):
        command.append("--dump-dom")
    done = subprocess.run([*command, address], capture_output=True, text=True, timeout=240)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return Shown(done.stdout, complaints)


@contextmanager
def page(folder: Path) -> Iterator[str]:
    dashboard = Dashboard(folder)
    dashboard.start()
    try:
        yield dashboard.address
    finally:
        dashboard.stop()


def a_minute(
    folder: Path, names: list[str], until: float, query: str = "alarms", end: bool = False, **more: Any
) -> None:
    """Reports of the minute before a time."""
    run = new_run(until - 60)
    lines: list[dict[str, Any]] = [start(run, until - 60, query)]
    for number in range(20):
        at = until - 60 + 3 * number
        streams = {
            name: stream(rows=(number * 10) * (1 + place), watermark=int(at * 1e6) - place, bytes=1000 * (place + 1))
            for place, name in enumerate(names)
        }
        lines.append(report(number, run, at, streams=streams, **more))
    lines[-1]["rows"] = {"columns": [EVIL, "k"], "rows": [[EVIL, "7"]]}
    lines[-1]["plans"] = [plan(names)]
    path = write(folder, lines, run)
    os.utime(path, (until, until))


def plan(names: list[str]) -> dict[str, Any]:
    step = {"stream": names[-1], "by": EVIL, "then": [], "matches": 1.5}
    return {
        "how": "inner",
        "late": "drop",
        "streams": {
            name: {"window": EVIL, "algorithm": "hash", "tuples": 5, "bytes": 50, "rate": 1.0} for name in names
        },
        "probes": {name: {"steps": [step]} for name in names},
        "predicted": {"cost": 0.02, "output_rate": 10.0},
        "measured": {"cost": 0.03, "output_rate": 9.0},
    }


def test_a_running_join_with_odd_names(tmp_path: Path) -> None:
    a_minute(tmp_path, [EVIL, "Größe & 'Co'"], time.time(), query=EVIL, completeness=0.91, throttle=0.5)
    with page(tmp_path) as address:
        shown = browse(address, tmp_path)
    assert shown.complaints == []
    assert "<title>&lt;img src=x" in shown.html, "a name that runs would have changed the title"
    assert "<img src=" not in shown.html.replace('<img src="/icon.svg"', "")
    for word in ("running", "Results per second", "Rows per second, by stream", "Memory, by window", "91.0 %", "Größe"):
        assert word in shown.text
    assert shown.html.count("<canvas") >= 4
    assert re.search(r"predicted.*measured", shown.text)


def test_without_data_it_says_what_to_do(tmp_path: Path) -> None:
    with page(tmp_path) as address:
        shown = browse(address, tmp_path)
    assert shown.complaints == []
    assert "No reports yet" in shown.text
    assert "dovetail demo --page" in shown.text


def test_a_thousand_streams(tmp_path: Path) -> None:
    a_minute(tmp_path, [f"sensor {at}" for at in range(1000)], time.time())
    with page(tmp_path) as address:
        shown = browse(address, tmp_path)
    assert shown.complaints == []
    assert "25 of 1,000" in shown.text
    assert "and 988 more streams" in shown.text
    assert len(shown.html) < 400_000


def test_a_dead_query(tmp_path: Path) -> None:
    a_minute(tmp_path, ["A", "B"], time.time() - 300)
    with page(tmp_path) as address:
        shown = browse(address, tmp_path)
    assert shown.complaints == []
    assert "No sign of life since" in shown.text


@pytest.mark.parametrize(
    ("size", "mode"),
    [("1360,900", "light"), ("1360,900", "dark"), ("500,900", "light")],
    ids=["laptop", "laptop, dark", "phone"],
)
def test_pictures(tmp_path: Path, size: str, mode: str) -> None:
    a_minute(tmp_path, ["A", "B", "C"], time.time())
    picture = tmp_path / "page.png"
    dark = ["--blink-settings=preferredColorScheme=0"] if mode == "dark" else []
    with page(tmp_path) as address:
        browse(address, tmp_path, f"--window-size={size}", f"--screenshot={picture}", *dark)
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    assert f"{width},{height}" == size
    assert picture.stat().st_size > 15_000, "an empty page is smaller"
