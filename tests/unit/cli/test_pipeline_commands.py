"""``dovetail run`` and ``dovetail explain``: what they show and how they end, with pretended queries."""

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from dovetail.cli import app
from dovetail.cli.progress import Progress, Running
from dovetail.cli.run import watch

GOOD = Path(__file__).parents[3] / "examples" / "pipelines" / "hot_and_wet.sql"


@dataclass
class Batch:
    batchId: int  # noqa: N815  # Spark's name
    numInputRows: int  # noqa: N815  # Spark's name
    durationMs: dict[str, int] = field(default_factory=lambda: {"triggerExecution": 1500})  # noqa: N815
    observedMetrics: dict[str, Any] = field(default_factory=dict)  # noqa: N815


@dataclass
class Pretended:
    """A query that ends one batch per look, and perhaps itself."""

    ends_after: int | None = None
    error: Exception | None = None
    looks: int = 0

    @property
    def recentProgress(self) -> list[Batch]:  # noqa: N802  # Spark's name
        return [Batch(number, 0 if number == 1 else 1000) for number in range(self.looks)]

    @property
    def lastProgress(self) -> Batch | None:  # noqa: N802  # Spark's name
        self.looks += 1
        return self.recentProgress[-1]

    @property
    def isActive(self) -> bool:  # noqa: N802  # Spark's name
        return self.ends_after is None or self.looks < self.ends_after

    def exception(self) -> Exception | None:
        return self.error


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.cli.run.LOOK_EVERY", 0)


def watched(*queries: Pretended, seconds: float | None = None, terminal: bool = False) -> tuple[str | None, str]:
    """Why it failed, and what was shown; a second passes with every look."""
    file = io.StringIO()
    running = [Running(name, query) for name, query in zip("ab", queries, strict=False)]
    progress = Progress(Console(file=file, force_terminal=terminal), running)
    with progress:
        failure = watch(running, progress, Event(), seconds, clock=lambda: float(queries[0].looks))
    return failure, file.getvalue()


def test_a_line_for_each_batch_with_rows() -> None:
    failure, shown = watched(Pretended(ends_after=3))
    assert failure is None
    assert shown == "a: batch 0, 1,000 rows in, 0 results, 1.5 s\na: batch 2, 1,000 rows in, 0 results, 1.5 s\n"


def test_a_terminal_has_a_line_for_each_query() -> None:
    _, shown = watched(Pretended(ends_after=2), Pretended(ends_after=2), terminal=True)
    for head in ("query", "rows/s", "results/s", "complete", "lag"):
        assert head in shown
    assert re.search(r"a +667 +0 +0 +100% +0\.0 s", shown)
    assert re.search(r"b +667", shown)
    assert "━" not in shown, "no bar: nobody knows the end"


def test_where_the_end_is_known_there_is_a_bar() -> None:
    _, shown = watched(Pretended(), seconds=4, terminal=True)
    assert "━" in shown


def test_it_stops_when_the_time_is_over() -> None:
    query = Pretended()
    failure, _ = watched(query, seconds=3)
    assert failure is None
    assert query.looks == 3


def test_it_goes_on_until_all_have_ended() -> None:
    short, long = Pretended(ends_after=1), Pretended(ends_after=4)
    watched(short, long)
    assert long.looks == 4


def test_one_failure_ends_all() -> None:
    failure, _ = watched(Pretended(), Pretended(ends_after=2, error=ValueError("the disk is full\nat java.io")))
    assert failure == "b: the disk is full"


def test_it_stops_when_told() -> None:
    stop, running = Event(), [Running("a", Pretended())]
    stop.set()
    assert watch(running, Progress(Console(file=io.StringIO()), running), stop) is None


def test_sums() -> None:
    query = Pretended(looks=4)
    running = Running("a", query)
    running.drain()
    assert running.summary() == "a: 5 batches, 4,000 rows in, 0 results"


def test_explain_shows_every_plan() -> None:
    done = CliRunner().invoke(app, ["explain", str(GOOD)])
    assert done.exit_code == 0
    first, second = done.output.split("\n\n")
    assert first.startswith("alarms (parquet), sudden (csv) share one join\n  alarms: windows ")
    assert second.startswith("lonely (json) runs by itself: no other query has its streams,")


@pytest.mark.parametrize("command", ["run", "explain"])
def test_a_mistake_is_shown_before_anything_starts(command: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.sql"
    file.write_text(GOOD.read_text().replace("H.value > 80", "H.valeu > 80"))
    done = CliRunner().invoke(app, [command, str(file)])
    assert done.exit_code == 2
    assert done.output.startswith(f"{file}: line 21, column 52: stream 'H' has no column 'valeu'")
    assert "Did you mean 'value'?" in done.output


@pytest.mark.parametrize(
    "arguments", [["no-such-file.sql"], [str(GOOD), "--once", "--seconds", "3"], [str(GOOD), "--finish"]]
)
def test_wrong_use(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, ["run", *arguments]).exit_code == 2


def test_no_java_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = CliRunner().invoke(app, ["run", str(GOOD)])
    assert done.exit_code == 1
    assert done.output.startswith("Spark needs Java")
