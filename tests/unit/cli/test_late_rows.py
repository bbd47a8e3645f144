"""Rows that come late are said to, with what to do; files that would be late are found before they are read."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail.cli.file_order import order_warnings
from dovetail.cli.lost_rows import lost_cell, lost_lines, lost_warnings
from dovetail.cli.progress import Running, view
from dovetail.observe.buckets import Buckets
from dovetail.sql import parse_pipeline
from dovetail.sql.declarations import StreamDeclaration

START = datetime(2026, 7, 1, 12, tzinfo=UTC)


def stream(rows: int = 1000, late: int = 0, null_time: int = 0, **more: int) -> dict[str, int]:
    return {"rows": rows, "arrived": rows, "late": late, "null_time": null_time, **more}


def test_nothing_is_said_where_nothing_was_lost() -> None:
    streams = {"A": stream(), "B": stream(rows=0)}
    assert (lost_cell(streams), list(lost_lines("q", streams)), list(lost_warnings("q", streams))) == ("", [], [])


def test_every_stream_and_reason_has_a_line() -> None:
    streams = {"A": stream(late=400, null_time=3), "B": stream(late=5)}
    assert lost_cell(streams) == "405 late, 3 no time"
    assert list(lost_lines("q", streams)) == [
        "q: 400 of A's rows were late (40%)",
        "q: 3 of A's rows had no time, and were left out",
        "q: 5 of B's rows were late (0%)",
    ]


@pytest.mark.parametrize(("late", "warned"), [(9, False), (10, True)])
def test_a_warning_is_for_one_in_a_hundred(late: int, warned: bool) -> None:
    assert bool(list(lost_warnings("q", {"A": stream(late=late)}))) is warned


def test_the_warning_names_the_delay_that_would_have_kept_them() -> None:
    (warning,) = lost_warnings("q", {"A": stream(late=400, lateness_us=89_500_000)})
    assert warning.startswith("warning: q: 40% of A's rows came behind its watermark.")
    assert "a delay of 90 seconds would have kept them" in warning


def test_counts_of_runs_before_do_not_make_the_share_larger_than_one() -> None:
    assert list(lost_lines("q", {"A": stream(rows=1, late=7)})) == ["q: 7 of A's rows were late (100%)"]


def bucket(late: int) -> dict[str, Any]:
    own = {"rows": 100, "late": late, "unmatchable": 0, "stored": 0, "bytes": 0, "waiting": 0, "watermark": 5}
    whole = dict.fromkeys(("late_results", "held", "held_bytes", "waiting_bytes"), 0)
    return {"bucket": 0, "results": 1, "engine": {"streams": {"A": own}, "frontier": 5, "order": "none", **whole}}


def test_a_running_query_shows_them() -> None:
    running = Running("q", None, buckets=Buckets())
    packed = {"A": {"rows": 100, "null_times": 2, "filtered": 0}}
    running.buckets.add({"batch": 0, "duration_ms": {}, "statistics": {}, "streams": packed, "buckets": [bucket(40)]})
    assert running._cells(1.0, 1.0)[-1] == "40 late, 2 no time"
    assert [line.partition(":")[2][:40] for line in running.lost()] == [
        " 40 of A's rows were late (40%)",
        " 2 of A's rows had no time, and were lef",
        " q: 40% of A's rows came behind its wate",
    ]
    assert view([running], None) is not None


def written(folder: Path, minutes: list[int], delay: str = "5", options: str = ", maxFilesPerTrigger = 1") -> list[str]:
    """The warnings about files of a minute each, changed in this order."""
    for at, minute in enumerate(minutes):
        file = folder / f"{minute}.parquet"
        times = [START + timedelta(minutes=minute, seconds=second) for second in range(0, 60, 10)]
        pq.write_table(pa.table({"k": list(range(6)), "ts": pa.array(times, pa.timestamp("us", "UTC"))}), file)
        os.utime(file, (1_000_000 + at, 1_000_000 + at))
    return list(order_warnings([declared(folder, delay, options)]))


def declared(folder: Path, delay: str, options: str) -> StreamDeclaration:
    text = f"""CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND)
        WITH (format = 'parquet', path = '{folder}'{options});
        INSERT INTO s WITH (format = 'noop') SELECT A.k FROM A, A B WHERE A.k = B.k WINDOW 1 MINUTE;"""
    return parse_pipeline(text).streams[0]


def test_files_in_order_are_fine(tmp_path: Path) -> None:
    assert written(tmp_path, [0, 1, 2, 3]) == []


def test_files_that_were_copied_in_another_order_are_worth_a_warning(tmp_path: Path) -> None:
    (warning,) = written(tmp_path, [0, 3, 1, 2])
    assert warning.startswith("warning: 2 of A's 4 files have rows that will be late")
    assert warning.endswith("give the stream a delay of 170 seconds")


def test_a_delay_that_is_long_enough_is_fine(tmp_path: Path) -> None:
    assert written(tmp_path, [0, 3, 1, 2], delay="170") == []


def test_one_batch_of_all_files_is_fine(tmp_path: Path) -> None:
    assert written(tmp_path, [3, 2, 1], options="") == []


def test_what_says_nothing_about_its_times_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "0.parquet").write_bytes(b"no parquet")
    pq.write_table(pa.table({"other": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"ts": [1, 2]}), tmp_path / "2.parquet")
    assert written(tmp_path / "nowhere", []) == []
    assert list(order_warnings([declared(tmp_path, "5", ", maxFilesPerTrigger = 1")])) == []
