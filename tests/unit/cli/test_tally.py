"""What the demo counts."""

from datetime import datetime

import pyarrow as pa
import pytest

from dovetail.cli.data_centre.tally import Batch, Rack, Tally


def batch(number: int, ready: float, seconds: float = 1.0, rows: int = 1000, alarms: int = 10) -> Batch:
    return Batch(number, ready, seconds, rows, alarms, stored=7, stored_bytes=2048, late=0)


def test_a_batch_adds_up_its_buckets() -> None:
    stream = {"stored": 3, "bytes": 100, "late": 1}
    metrics = {
        "batch": 4,
        "timestamp": "2026-07-01T12:00:00.500Z",
        "duration_ms": {"addBatch": 900, "triggerExecution": 1250},
        "results": 42,
        "streams": {"T": {"rows": 500}, "H": {"rows": 300}},
        "buckets": [{"engine": {"streams": {"T": stream, "H": stream}}}, {"engine": {"streams": {"T": stream}}}],
    }
    ready = datetime.fromisoformat("2026-07-01T12:00:01.750Z").timestamp()
    assert Batch.of(metrics) == Batch(4, ready, 1.25, rows=800, alarms=42, stored=9, stored_bytes=300, late=3)


def test_rates_are_taken_from_the_end_of_the_first_batch() -> None:
    tally = Tally([batch(0, ready=10, seconds=9), batch(1, ready=12), batch(2, ready=14)])
    assert tally.overall().rows_per_second == pytest.approx(2000 / 4)
    assert tally.now().rows_per_second == pytest.approx(1000)
    assert tally.batch_seconds() == (1.0, 1.0)


def test_a_single_batch_has_a_rate_too() -> None:
    tally = Tally([batch(0, ready=10, seconds=4)])
    assert tally.overall().rows_per_second == pytest.approx(250)
    assert tally.overall().lag == 4


def test_the_newest_batch() -> None:
    tally = Tally()
    assert tally.last == -1
    tally.add(batch(3, ready=1))
    assert tally.last == 3


def test_alarms_are_counted_by_rack_and_the_worst_is_kept() -> None:
    tally = Tally()
    for temperature in ([41.0, 44.0, 42.0], [43.0, 41.0, 45.0]):
        tally.add_alarms(
            pa.table({"location": ["A", "B", "A"], "temperature": temperature, "humidity": [81.0, 82.0, 83.0]})
        )
    assert tally.racks == {"A": Rack("A", 4, 45.0, 83.0), "B": Rack("B", 2, 44.0, 82.0)}
    assert [rack.location for rack in tally.hottest(1)] == ["A"]
