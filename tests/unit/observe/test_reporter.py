"""A reporter never raises, never waits, and counts what it could not say."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from dovetail.observe import reporter as reporter_module
from dovetail.observe.report_file import ReportFile, report_files
from dovetail.observe.reporter import Reporter


class Clock:
    """Time that goes on when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in report_files(folder) for line in path.read_text().splitlines()]


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_lines_say_whose_they_are_and_are_numbered(tmp_path: Path, clock: Clock) -> None:
    reporter = Reporter(tmp_path, "alarms", {"runtime": "embedded"}, clock)
    for number in range(3):
        reporter.report(lambda number=number: {"metrics": {"results": number}})  # type: ignore[misc]
    reporter.close("the source went away")
    found = lines(tmp_path)
    assert [line["kind"] for line in found] == ["start", "report", "report", "report", "end"]
    assert [line["number"] for line in found if line["kind"] == "report"] == [0, 1, 2]
    assert found[0]["query"] == "alarms"
    assert found[-1]["reason"] == "the source went away"
    assert {line["run"] for line in found} == {reporter.run}
    assert reporter.lost == 0


def test_a_report_a_second(tmp_path: Path, clock: Clock) -> None:
    reporter = Reporter(tmp_path, "alarms", {}, clock)
    assert reporter.due
    reporter.report(dict)
    assert not reporter.due
    clock.now += 0.99
    assert not reporter.due
    clock.now += 0.02
    assert reporter.due
    reporter.close()


def test_reports_that_take_long_come_seldom(tmp_path: Path, clock: Clock) -> None:
    reporter = Reporter(tmp_path, "alarms", {}, clock, work=clock)

    def slow() -> dict[str, Any]:
        clock.now += 0.5
        return {}

    reporter.report(slow)
    clock.now += 49
    assert not reporter.due  # half a second is one in a hundred of fifty
    clock.now += 2
    assert reporter.due
    reporter.close()


def test_a_minute_is_the_longest_time_between_reports(tmp_path: Path, clock: Clock) -> None:
    reporter = Reporter(tmp_path, "alarms", {}, clock, work=clock)

    def very_slow() -> dict[str, Any]:
        clock.now += 3600
        return {}

    reporter.report(very_slow)
    clock.now += 59
    assert not reporter.due
    clock.now += 2
    assert reporter.due
    reporter.close()


def test_time_that_others_took_does_not_count(tmp_path: Path, clock: Clock) -> None:
    reporter = Reporter(tmp_path, "alarms", {}, clock)

    def stopped() -> dict[str, Any]:
        clock.now += 3600  # the machine slept
        return {}

    reporter.report(stopped)
    clock.now += 1.5
    assert reporter.due
    reporter.close()


def test_large_reports_come_seldom(tmp_path: Path, clock: Clock) -> None:
    reporter = Reporter(tmp_path, "alarms", {}, clock)
    reporter.report(lambda: {"text": "x" * 500_000})
    while reporter._bytes == 0:  # until the writer has seen how large it is
        Event().wait(0.01)
    clock.now += 2
    reporter.report(dict)
    clock.now += 4
    assert not reporter.due
    clock.now += 2
    assert reporter.due
    reporter.close()


def test_what_cannot_be_made_or_written_is_counted(tmp_path: Path, clock: Clock) -> None:
    reporter = Reporter(tmp_path, "alarms", {}, clock)

    def broken() -> dict[str, Any]:
        raise RuntimeError("no")

    loop: dict[str, Any] = {}
    loop["again"] = loop
    reporter.report(broken)
    reporter.report(lambda: loop)
    reporter.report(lambda: {"object": object(), "set": {1}})  # written as text
    reporter.close()
    assert reporter.lost == 2
    assert [line["number"] for line in lines(tmp_path) if line["kind"] == "report"] == [2]


@pytest.mark.parametrize("where", ["a file", "no such disk"])
def test_a_folder_that_cannot_be_written_costs_only_reports(tmp_path: Path, clock: Clock, where: str) -> None:
    place = tmp_path / "taken"
    place.write_text("a file")
    folder = place if where == "a file" else Path("/proc/nowhere/reports")
    reporter = Reporter(folder, "alarms", {}, clock)
    reporter.report(dict)
    reporter.close()
    assert reporter.lost >= 1


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """A disk that does not answer until the event is set."""
    answer, write = Event(), ReportFile.write

    def wait(self: ReportFile, line: bytes) -> None:
        answer.wait(30)
        write(self, line)

    monkeypatch.setattr(ReportFile, "write", wait)
    monkeypatch.setattr(reporter_module, "LAST_WORDS_S", 0.05)
    yield answer
    answer.set()


def test_a_disk_that_hangs_does_not_hold_up_the_join(tmp_path: Path, clock: Clock, stuck: Event) -> None:
    reporter = Reporter(tmp_path, "alarms", {}, clock)
    for _ in range(100):
        reporter.report(dict)  # returns, though nothing is written
    assert reporter.lost >= 100 - reporter_module.WAITING - 1
    stuck.set()
    reporter.close()
    assert os.listdir(tmp_path)


def test_a_quiet_run_gives_signs_of_life(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporter_module, "SIGN_OF_LIFE_S", 0.01)
    reporter = Reporter(tmp_path, "alarms", {}, clock)
    while not report_files(tmp_path):
        Event().wait(0.01)
    (path,) = report_files(tmp_path)
    os.utime(path, (0, 0))
    for _ in range(500):
        if path.stat().st_mtime > 0:
            break
        Event().wait(0.01)
    assert path.stat().st_mtime > 0
    reporter.close()
