"""The live page under load: ten million results in bursts, watched by a page in a process of its own.

Two sensors of each of many racks are joined within a minute, one simulated second at a time; three in ten of these
seconds are bursts with five times the rows. The page is asked all along. What must hold: memory of the join and of
the page stays flat from the first tenth on, every report that was written arrived at the page, and the page answers
quickly to the end.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np
import psutil
import pyarrow as pa

import dovetail as dv
from benchmarks.limit_threads import limit_arrow
from benchmarks.report import Report
from benchmarks.settings import Settings

NAME = "sensors <in> bursts"
RACKS, ROWS, BURST = 4_000, 400, 5
RESULTS_PER_S = 80_000
MOST_S = 600
SECOND = 1_000_000
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "rack": pa.int64(), "value": pa.float64()})


def run(settings: Settings) -> Report:
    """Push until enough results have come, in real time; ``--rows`` says how many."""
    limit_arrow()
    wanted = settings.size(10_000_000, 200_000)
    with tempfile.TemporaryDirectory() as folder, _page(folder) as page:
        reports, results, seconds = _load(folder, wanted, page)
        time.sleep(2)
        seen = page.ask()
    memory = {"join": page.join_bytes, "page": page.page_bytes}
    growth = {name: sizes[-1] / max(sizes[: max(1, len(sizes) // 10 + 1)]) for name, sizes in memory.items()}
    answers = np.sort(page.answers_s)
    fields: dict[str, Any] = {
        "results_equal": seen["results"] == results and not reports.lost and not seen["missed"],
        "results": results,
        "seconds": round(seconds, 1),
        "reports": seen["reports"],
        "lost": reports.lost,
        "missed": seen["missed"],
        "memory_growth": {name: round(value, 3) for name, value in growth.items()},
        "memory_mb": {name: round(max(sizes) / 1e6, 1) for name, sizes in memory.items()},
        "answer_ms": {"median": float(np.median(answers) * 1e3), "p99": float(np.quantile(answers, 0.99) * 1e3)},
    }
    lines = [
        (name, max(sizes[: len(sizes) // 10 + 1]) / 1e6, max(sizes) / 1e6, sizes[-1] / 1e6, growth[name])
        for name, sizes in memory.items()
    ]
    answer = f"answers in {fields['answer_ms']['median']:.0f} ms, one in a hundred in {fields['answer_ms']['p99']:.0f}"
    title = f"Page: {results:,} results, {seen['reports']} reports, none lost; the page {answer}"
    return Report(title, ("memory of, MB", "first tenth", "most", "at the end", "times the first"), lines, fields)


def _load(folder: str, wanted: int, page: "Page") -> tuple[Any, int, float]:
    """The join, no faster than its pace; the page is asked once a second."""
    streams = [dv.stream(name, time="ts", window="1 minute", delay="1 second", schema=SCHEMA) for name in "TH"]
    join = dv.join(*streams, on="T.rack = H.rack AND T.value > 20", select="T.rack, T.value, H.value AS humidity")
    running = join.local(threads=1)
    reports = dv.report(running, name=NAME, folder=folder)
    began, asked, results = time.monotonic(), 0.0, 0
    for name, rows in _readings():
        results += running.push(name, rows).num_rows
        spent = time.monotonic() - began
        if spent - asked >= 1:
            page.ask()
            asked = spent
        if results >= wanted or spent > MOST_S:
            break
        time.sleep(max(0.0, min(0.2, results / RESULTS_PER_S - spent)))
    results += running.close().num_rows
    return reports, results, time.monotonic() - began


def _readings() -> Iterator[tuple[str, pa.Table]]:
    rng = np.random.default_rng(11)
    second = 0
    while True:
        rows = ROWS * (BURST if second % 10 < 3 else 1)
        for name in "TH":
            times = second * SECOND + np.sort(rng.integers(0, SECOND, rows))
            values = {"rack": rng.integers(0, RACKS, rows), "value": rng.normal(27, 5, rows).round(1)}
            yield name, pa.table({"ts": pa.array(times, pa.timestamp("us")), **values})
        second += 1


@dataclass
class Page:
    """The page in its own process: asked, timed, and weighed together with the join."""

    process: subprocess.Popen[str]
    address: str
    answers_s: list[float] = field(default_factory=list)
    join_bytes: list[int] = field(default_factory=list)
    page_bytes: list[int] = field(default_factory=list)

    def ask(self) -> dict[str, Any]:
        began = time.perf_counter()
        with urlopen(f"{self.address}api/join?name={quote(NAME)}", timeout=30) as answer:
            seen: dict[str, Any] = json.load(answer)
        self.answers_s.append(time.perf_counter() - began)
        self.join_bytes.append(psutil.Process().memory_info().rss)
        self.page_bytes.append(psutil.Process(self.process.pid).memory_info().rss)
        return seen

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)


def _page(folder: str) -> Page:
    command = [sys.executable, "-c", "from dovetail.cli import main; main()", "dashboard", folder, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
    return Page(process, address)
