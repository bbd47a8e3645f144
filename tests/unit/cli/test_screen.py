"""What the demo shows."""

import io
from datetime import datetime

import pyarrow as pa
from rich.console import Console

from dovetail.cli.data_centre.screen import Screen, progress_line, summary_lines
from dovetail.cli.data_centre.tally import Batch, Rack, Tally

TALLY = Tally(
    [
        Batch(0, ready=10.0, seconds=8.0, rows=400_000, alarms=100, stored=50, stored_bytes=1024, late=0),
        Batch(1, ready=11.0, seconds=0.8, rows=400_000, alarms=120, stored=60, stored_bytes=2048, late=2),
    ],
    {"A-07-23": Rack("A-07-23", 219, 44.9, 88.0), "B-01-01": Rack("B-01-01", 1, 40.1, 80.5)},
)


def written(terminal: bool = False) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, force_terminal=terminal, width=60), file


def test_plain_output_is_plain_lines() -> None:
    console, file = written()
    moments = iter([0.0, 0.0, 1.0, 2.5, 2.5])  # each line asks whether it may, and notes when it did
    with Screen(console, lambda: next(moments)) as screen:
        screen.step("starting Spark ...")
        for number in (0, 0, 1, 2):
            screen.progress(f"progress {number}")
    assert file.getvalue() == "starting Spark ...\nprogress 0\nprogress 2\n"


def test_a_long_line_stays_one_line() -> None:
    console, file = written()
    Screen(console).line("x" * 200)
    assert file.getvalue() == "x" * 200 + "\n"


def test_a_terminal_gets_a_live_line() -> None:
    console, file = written(terminal=True)
    with Screen(console) as screen:
        screen.step("starting Spark ...")
        screen.progress("400,000 rows/s")
    assert "\x1b[" in file.getvalue()


def test_the_hottest_of_new_alarms_are_shown() -> None:
    console, file = written()
    temperatures = [41.0, 47.5, 44.0]
    moment = [datetime(2026, 7, 1, 12, 4, 31)] * 3
    found = {"result_time": moment, "location": ["A", "B", "C"], "temperature": temperatures, "humidity": [90.0] * 3}
    Screen(console).alarms(pa.table(found))
    assert file.getvalue() == "12:04:31  B   47.5 °C   90.0 %\n12:04:31  C   44.0 °C   90.0 %\n"


def test_the_progress_line() -> None:
    assert progress_line(TALLY, 7.2) == ("7 s: 500,000 rows/s in, 150 alarms/s out, lag 0.8 s, 60 tuples stored")
    assert progress_line(Tally(TALLY.batches[:1]), 0).startswith("the first 400,000 rows took 8.0 s")


def test_the_summary() -> None:
    assert "\n".join(summary_lines(TALLY, cores=4)).splitlines() == [
        "read           800,000 readings of 20,000 racks, 400,000 a second on 4 cores",
        "event time     12:00:00 to 12:01:40",
        "alarms         220 at 2 racks, 120 a second",
        "late           2 readings",
        "state kept     60 tuples in 2 KB, all that can still matter",
        "micro-batches  2; median 0.80 s, slowest 0.80 s, the first, which starts the workers, 8.0 s",
        "hottest racks  A-07-23   44.9 °C   88.0 %     219 alarms",
        "               B-01-01   40.1 °C   80.5 %       1 alarm",
    ]


def test_nothing_to_sum_up() -> None:
    assert summary_lines(Tally(), cores=4) == ["Stopped before the first micro-batch was done."]
