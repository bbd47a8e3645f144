"""A real Prometheus scrapes a run of ten queries for five minutes: no gap between two scrapes, and nothing grows."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import psutil
import pyarrow as pa
import pytest

import dovetail as dv

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="Prometheus is not installed on this machine"),
]
SECONDS, SETTLED_S = 300, 60
GROWTH = 1.2  # of the exporter's memory after its first minute; measuring alone varies by some per cent
CONFIG = Path(__file__).parents[2] / "examples" / "metrics" / "prometheus.yml"  # what the page tells to start it with
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def free_port() -> int:
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def running(*command: str) -> Iterator[psutil.Process]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def asked(port: int, expression: str) -> list[dict[str, object]]:
    answer = urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={quote(expression)}", timeout=10).read()
    result: list[dict[str, object]] = json.loads(answer)["data"]["result"]
    return result


def test_ten_queries_for_five_minutes(tmp_path: Path) -> None:
    exporter, prometheus, reports = free_port(), free_port(), tmp_path / "reports"
    reports.mkdir()
    config = tmp_path / "prometheus.yml"
    config.write_text(CONFIG.read_text().replace("localhost:9464", f"127.0.0.1:{exporter}"))
    streams = [dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA) for name in "AB"]
    queries = [dv.join(*streams, on="A.k = B.k", select="A.k", window=None).named(f"q{n}") for n in range(10)]
    run = dv.share(*queries).local()
    dv.report(run, name="ten", folder=reports)
    exporting = [str(Path(sys.executable).with_name("dovetail")), "metrics", str(reports), "--port", str(exporter)]
    storing = ["--storage.tsdb.path", str(tmp_path / "data"), "--web.listen-address", f"127.0.0.1:{prometheus}"]
    with running(*exporting) as served, running("prometheus", "--config.file", str(config), *storing):
        memory, began, results = {}, time.monotonic(), 0
        while (passed := time.monotonic() - began) < SECONDS:
            at = int(passed * 1e6)
            for name in "AB":
                rows = [{"ts": at + n, "k": n} for n in range(100)]
                results += run.push(name, rows).num_rows
            memory[passed] = served.memory_info().rss
            time.sleep(0.25)
        time.sleep(3)
        (up,) = asked(prometheus, f"min_over_time(up[{SECONDS - SETTLED_S}s])")
        (count,) = asked(prometheus, f"count_over_time(up[{SECONDS - SETTLED_S}s])")
        exported = asked(prometheus, "dovetail_query_results_total")
    assert up["value"][1] == "1", "no scrape failed"  # type: ignore[index]
    assert int(count["value"][1]) >= SECONDS - SETTLED_S - 2, "a scrape every second"  # type: ignore[index]
    assert len(exported) == 10
    settled = [rss for passed, rss in memory.items() if passed > SETTLED_S]
    assert max(settled[-20:]) <= GROWTH * min(settled[:20])
    print(json.dumps({"results": results, "scrapes": count["value"], "rss": [settled[0], settled[-1]]}))
