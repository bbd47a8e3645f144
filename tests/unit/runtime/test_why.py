"""Why a row has not come out, and what a state holds: every reason, of runs, snapshots and on the command line."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import dovetail as dv
from dovetail.cli import app
from dovetail.engine.operator.survey import survey_state

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.string()})
SECOND = 1_000_000
GOOD = Path(__file__).parents[3] / "examples" / "pipelines" / "hot_and_wet.sql"


def row(second: int | None, k: int = 0, v: str = "y") -> dict[str, Any]:
    return {"ts": None if second is None else second * SECOND, "k": k, "v": v}


def run_of(names: str = "AB", on: str = "A.k = B.k AND A.v <> 'x'", **options: Any) -> Any:
    streams = [dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA, delay="2 seconds") for name in names]
    run = dv.join(*streams, on=on, select="A.k", **options).local()
    run.push("A", [row(at, k=at) for at in (3, 4, 5)])
    run.push("B", [row(3, k=4, v="x")])
    return run


@pytest.mark.parametrize(
    ("asked", "reason", "said"),
    [
        (row(None), "no time", "ts is NULL"),
        (row(3, v="x"), "filtered", "A.v"),
        (row(3, k=3), "no partner", "0 stored rows of 'B' fit"),
        (row(4, k=4), "out", "1 stored row of 'B' fits"),
        (row(1), "late", "older than the watermark of 'A', 1970-01-01 00:00:03"),
        (row(9), "unknown", "it has not come, or a budget dropped it"),
    ],
)
def test_every_reason(asked: dict[str, Any], reason: str, said: str) -> None:
    found = run_of().why("A", asked)
    assert found.reason == reason
    assert said in str(found)


def test_rows_wait_for_the_slower_stream() -> None:
    found = run_of(order="sync").why("A", row(3, k=3))
    assert (found.reason, "waits for 'B'" in str(found)) == ("waiting", True)


def test_results_wait_for_their_order() -> None:
    assert run_of(order="hold").why("A", row(4, k=4)).reason == "held"


def test_a_row_whose_window_has_closed_has_expired() -> None:
    run = run_of()
    run.advance("B", 30 * SECOND)
    assert run.why("A", row(3, k=3)).reason == "expired"


def test_partners_of_each_other_stream() -> None:
    run = run_of("ABC", "A.k = B.k AND B.k = C.k AND ABS(A.k - C.k) < 2")
    run.push("C", [row(4, k=5), row(4, k=9)])
    found = run.why("A", row(4, k=4))
    assert (found.reason, found.partners) == ("out", {"B": 1, "C": 1})
    assert run.why("A", row(5, k=5)).partners == {"B": 0, "C": 1}


def test_one_row_is_asked_about() -> None:
    with pytest.raises(dv.DataError, match="give one row of stream 'A', got 2"):
        run_of().why("A", [row(1), row(2)])


@pytest.mark.parametrize("plan", ["multiway", "binary"])
def test_a_survey_counts_what_metrics_count(plan: str) -> None:
    run = run_of("ABC", "A.k = B.k AND B.k = C.k", plan=plan)
    found = {each.stream: each for operator in survey_state(run.operator.state()) for each in operator.streams}
    streams = run.metrics()["streams"]
    for name in "ABC":
        assert found[name].tuples == streams[name]["stored"]
    assert (found["A"].oldest_us, found["A"].newest_us, found["A"].watermark_us) == (3 * SECOND, 5 * SECOND, 3 * SECOND)
    assert found["C"].watermark_us is None


def test_a_survey_leaves_out_what_the_window_has_forgotten() -> None:
    run = run_of()
    run.push("A", [row(14, k=14)])
    run.push("B", [row(16, k=16)])
    (found,) = survey_state(run.operator.state())
    stored = {each.stream: each for each in found.streams}
    assert stored["A"].tuples == run.metrics()["streams"]["A"]["stored"]
    assert stored["A"].oldest_us == 4 * SECOND


def test_a_shared_run_can_be_asked_too() -> None:
    a, b = (dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA) for name in "AB")
    pairs = dv.join(a, b, on="A.k = B.k", select="A.k")
    run = dv.share(pairs.named("one"), pairs.named("two")).local()
    run.push("A", [row(3, k=3)])
    assert run.why("A", row(3, k=3)).reason == "no partner"


def test_a_snapshot_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "pairs.snapshot"
    file.write_bytes(run_of(order="sync").snapshot())
    shown = CliRunner().invoke(app, ["state", str(file)])
    assert shown.exit_code == 0
    assert "3 for B" in shown.output
    found = json.loads(CliRunner().invoke(app, ["state", str(file), "--json"]).output)
    assert found["operators"][0]["streams"][0]["waiting"] == 3


def test_what_is_no_state_is_said(tmp_path: Path) -> None:
    file = tmp_path / "other"
    file.write_bytes(b"something else")
    shown = CliRunner().invoke(app, ["state", str(file)])
    assert shown.exit_code == 1
    assert "this is not a Dovetail snapshot" in shown.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["T", "{}"], "--sink with one of alarms, lonely, sudden"),
        (["X", "{}", "--sink", "alarms"], "the query has no stream 'X'"),
        (["T", "[1]", "--sink", "alarms"], "one JSON object"),
        (["T", "{", "--sink", "alarms"], "no JSON"),
    ],
)
def test_mistakes_of_why_are_said(tmp_path: Path, arguments: list[str], said: str) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"")
    shown = CliRunner().invoke(app, ["why", str(GOOD), str(file), *arguments])
    assert shown.exit_code == 2
    assert said in shown.output
