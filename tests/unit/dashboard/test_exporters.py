"""Prometheus and OpenTelemetry get the numbers that reports have, under names that their conventions ask for."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pyarrow as pa
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client.parser import text_string_to_metric_families

import dovetail as dv
from dovetail.dashboard.board import Board
from dovetail.dashboard.instruments import INSTRUMENTS, Instrument
from dovetail.dashboard.opentelemetry import observe_joins
from dovetail.dashboard.prometheus import PrometheusEndpoint
from tests.unit.dashboard.reports import end, report, start, write

EXAMPLES = Path(__file__).parents[3] / "examples" / "metrics"
METRIC = re.compile(r"dovetail_[a-z_]+")
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """Reports of a real run under a budget, of shared queries, and of one that has ended with an error."""
    a, b = (dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA) for name in "AB")
    pairs = dv.join(a, b, on="A.k = B.k", select="A.k", budget=dv.budget(memory=dv.tuples(100)))
    alone = pairs.replace(budget=None)
    runs = {"pairs": pairs.local(), "both": dv.share(alone.named("one"), alone.named("two")).local()}
    for name, run in runs.items():
        dv.report(run, name=name, folder=tmp_path)
        run.push("A", [{"ts": 3_000_000, "k": 1}])
        run.push("B", [{"ts": 3_000_000, "k": 1}, {"ts": 1_000_000, "k": 1}])
        run.push("B", [{"ts": 1_000_000, "k": 1}])
        run.close()
    write(
        tmp_path,
        [start("6af92b4e000000", query="ended"), report(0, "6af92b4e000000"), end("6af92b4e000000", reason="no disk")],
    )
    return tmp_path


def scraped(folder: Path) -> Iterator[tuple[str, str, Samples]]:
    board = Board(folder, clock=lambda: 1010.0)
    board.look()
    endpoint = PrometheusEndpoint(board)
    try:
        text = urlopen(endpoint.address, timeout=10).read().decode()
    finally:
        endpoint.stop()
    for family in text_string_to_metric_families(text):
        yield family.name, family.type, {(s.name, tuple(sorted(s.labels.items()))): s.value for s in family.samples}


def scraped_name(instrument: Instrument) -> str:
    return instrument.prometheus_name + ("_total" if instrument.kind == "counter" else "")


def labels(**values: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(values.items()))


def test_prometheus_scrapes_what_runs_report(real: Path) -> None:
    families = {name: (kind, samples) for name, kind, samples in scraped(real)}
    kind, rows = families["dovetail_stream_rows"]
    assert kind == "counter"
    b = labels(join="pairs", runtime="embedded", stream="B")
    assert rows["dovetail_stream_rows_total", b] == 3
    assert families["dovetail_stream_late_rows"][1]["dovetail_stream_late_rows_total", b] == 1
    assert families["dovetail_results"][1]["dovetail_results_total", labels(join="pairs", runtime="embedded")] == 2
    one = labels(join="both", runtime="embedded", query="one")
    assert families["dovetail_query_results"][1]["dovetail_query_results_total", one] == 2
    assert families["dovetail_completeness_ratio"][0] == "gauge"
    assert set(families["dovetail_completeness_ratio"][1].values()) == {1.0}
    failed = labels(join="ended", runtime="embedded", state="failed")
    assert families["dovetail_running"][1]["dovetail_running", failed] == 0


def test_names_follow_the_conventions(real: Path) -> None:
    units = ("_seconds", "_bytes", "_ratio", "_rows", "_tuples", "_results", "_running")
    for name, kind, samples in scraped(real):
        assert name.startswith("dovetail_")
        assert name.endswith(units), f"{name} ends with its unit"
        assert all(sample.endswith("_total") == (kind == "counter") for sample, _ in samples)
    assert (
        len({each.name for each in INSTRUMENTS})
        == len({each.prometheus_name for each in INSTRUMENTS})
        == len(INSTRUMENTS)
    )


def test_opentelemetry_observes_the_same_numbers(real: Path) -> None:
    board = Board(real)
    board.look()
    reader = InMemoryMetricReader()
    observe_joins(board, MeterProvider([reader]).get_meter("dovetail"))
    data: Any = reader.get_metrics_data()
    found = {each.name: each for each in data.resource_metrics[0].scope_metrics[0].metrics}
    late = {
        point.attributes["join"]: point.value
        for point in found["dovetail.stream.late"].data.data_points
        if point.attributes["stream"] == "B"
    }
    assert (late["pairs"], late["both"]) == (1, 1)
    assert found["dovetail.stream.late"].unit == "{row}"
    assert found["dovetail.stream.late"].data.is_monotonic
    assert found["dovetail.window.size"].unit == "By"


def test_an_endpoint_that_is_scraped_reads_on(tmp_path: Path) -> None:
    write(tmp_path, [start(), report(0)])
    first = {name: samples for name, _, samples in scraped(tmp_path)}
    write(tmp_path, [start(), report(0), report(4)])
    later = {name: samples for name, _, samples in scraped(tmp_path)}
    assert sum(later["dovetail_results"].values()) > sum(first["dovetail_results"].values())


def test_the_board_asks_only_for_metrics_that_there_are() -> None:
    board = json.loads((EXAMPLES / "grafana.json").read_text())
    known = {
        name + ("_total" if each.kind == "counter" else "") for each in INSTRUMENTS for name in [each.prometheus_name]
    }
    asked = {
        name for panel in board["panels"] for target in panel["targets"] for name in METRIC.findall(target["expr"])
    }
    assert asked - known == {"dovetail_running"}
    assert len(asked) > 15


def test_the_page_about_metrics_names_all_of_them() -> None:
    page = (EXAMPLES.parents[1] / "docs" / "how-to" / "export-metrics.md").read_text()
    for each in INSTRUMENTS:
        name = scraped_name(each)
        short = name.replace("dovetail_stream", "...").replace("_rows_total", "_...")
        assert name in page or short in page, name
