"""The demo: its command, its loop, and once all of it on Spark."""

import io
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest
from rich.console import Console
from typer.testing import CliRunner

from dovetail.cli import app
from dovetail.cli.data_centre.screen import Screen
from dovetail.cli.data_centre.tally import Batch, Tally
from dovetail.cli.demo import watch

ALARMS = pa.table({"result_time": [0], "location": ["A-07-23"], "temperature": [44.9], "humidity": [88.0]})
ALARMS = ALARMS.set_column(0, "result_time", ALARMS["result_time"].cast(pa.timestamp("us")))


@dataclass
class Pretended:
    """A pipeline with one batch per look, and perhaps an end."""

    fails_after: int | None = None
    looks: int = field(default=0)

    def failure(self) -> str | None:
        return "the disk is full" if self.looks == self.fails_after else None

    def alarms(self) -> pa.Table | None:
        return ALARMS

    def batches_after(self, number: int) -> list[Batch]:
        self.looks += 1
        return [Batch(number + 1, self.looks, 1.0, 1000, 1, 5, 1024, 0)]


def watched(pipeline: Pretended, stop: Event, seconds: float | None) -> tuple[str | None, Tally, str]:
    file, tally = io.StringIO(), Tally()
    screen = Screen(Console(file=file))
    failure = watch(pipeline, tally, screen, stop, seconds, clock=lambda: float(pipeline.looks))  # type: ignore[arg-type]
    return failure, tally, file.getvalue()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.cli.demo.LOOK_EVERY", 0)


def test_it_stops_by_itself() -> None:
    failure, tally, shown = watched(Pretended(), Event(), seconds=3)
    assert failure is None
    assert len(tally.batches) == 4, "three seconds from the end of the first batch"
    assert tally.racks["A-07-23"].alarms == 4
    assert "00:00:00  A-07-23   44.9 °C   88.0 %" in shown


def test_it_stops_when_told() -> None:
    stop = Event()
    stop.set()
    assert watched(Pretended(), stop, seconds=None)[1].batches == []


def test_it_says_why_it_failed() -> None:
    failure, tally, _ = watched(Pretended(fails_after=2), Event(), seconds=None)
    assert failure == "the disk is full"
    assert len(tally.batches) == 2


def test_without_java_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Spark needs Java 17 or 21, and there is none here.")
    assert done.stderr.count("\n") == 1


def test_without_spark_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.cli.demo.find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 1
    assert (
        done.stderr == "The demo runs on Spark, which is not installed: pip install 'dovetail[spark]', and try again.\n"
    )


def test_if_spark_does_not_start_it_says_where_to_look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("Java gateway process exited\nat line 7")

    monkeypatch.setattr("dovetail.cli.demo.complaint_about_spark", lambda: None)
    monkeypatch.setattr("dovetail.cli.demo.run_in", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 1
    assert done.stderr.startswith("Java gateway process exited\nWhat Spark had to say about it is in ")
    assert str(next(tmp_path.glob("dovetail-demo-*"))) in done.stderr


@pytest.mark.parametrize("seconds", ["0", "-1", "soon"])
def test_a_wrong_option(seconds: str) -> None:
    assert CliRunner().invoke(app, ["demo", "--seconds", seconds]).exit_code == 2


def test_it_is_listed() -> None:
    assert "demo" in CliRunner().invoke(app, ["--help"]).output
    assert "--stay" in CliRunner().invoke(app, ["demo", "--help"], env={"COLUMNS": "120"}).output


@pytest.mark.spark
def test_it_runs_on_spark() -> None:
    command = [sys.executable, "-c", "from dovetail.cli import main; main()", "demo", "--seconds", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for part in ("starting Spark", "first micro-batch", "read   ", "alarms   ", "state kept", "hottest racks  "):
        assert part in done.stdout
    assert "late           0 readings" in done.stdout
    assert "Streaming TransformWithState" not in done.stdout
