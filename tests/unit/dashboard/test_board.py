"""From reports to what the page shows: rates, restarts, losses, life and death; nothing in a report breaks it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.dashboard.board import Board
from dovetail.dashboard.incoming import read_line
from dovetail.dashboard.joins import Joins
from dovetail.dashboard.timeline import COARSE, FINE, Timeline
from dovetail.dashboard.view import join_view, joins
from tests.unit.dashboard.reports import RUN, end, report, start, stream, write

OTHER = "6af92b4e000000"


def board_of(*lines: dict[str, Any]) -> Joins:
    board = Joins()
    for line in lines:
        read = read_line(line)
        assert read is not None, line
        board.add(read)
    return board


def view(board: Joins, name: str = "alarms", now: float = 1010.0, **asked: Any) -> dict[str, Any]:
    return join_view(board.entries[name], {}, now, **asked)


def test_rates_are_differences_of_counters() -> None:
    found = view(board_of(start(), report(0, at=1000), report(1, at=1002)))
    assert found["results_per_s"] == 5.0
    assert {row["name"]: row["rate"] for row in found["streams_shown"]["rows"]} == {"A": 50.0, "B": 50.0}
    assert found["drawn"]["plots"]["results"] == [{"name": "results", "values": [None, 5.0]}]


def test_a_restart_goes_on_with_the_same_history() -> None:
    first = [start(), report(0), report(1), report(2)]
    again = [start(OTHER, at=1020.0), report(0, OTHER, at=1021.0), report(1, OTHER, at=1022.0)]
    board = board_of(*first, *again)
    found = view(board, now=1023.0)
    assert list(board.entries) == ["alarms"]
    assert found["restarts"] == [1020.0]
    assert found["drawn"]["times"] == [1000.0, 1001.0, 1002.0, 1020.0, 1021.0, 1022.0]
    assert found["drawn"]["plots"]["results"][0]["values"] == [None, 10.0, 10.0, None, None, 10.0]
    assert found["missed"] == 0


def test_two_at_the_same_time_have_an_entry_each() -> None:
    board = board_of(start(), report(0), start(OTHER, at=1001.0), report(0, OTHER, at=1002.0), report(5, at=1006.0))
    assert set(board.entries) == {"alarms", "alarms (2)"}
    assert board.entries["alarms"].run == OTHER
    assert board.entries["alarms (2)"].run == RUN


def test_the_first_line_of_every_file_starts_nothing_twice() -> None:
    board = board_of(start(), report(0), report(1), start(), report(2))
    assert not board.entries["alarms"].restarts
    assert board.entries["alarms"].reports == 3


def test_numbers_that_are_missing_are_missed_reports() -> None:
    assert view(board_of(start(), report(3), report(4), report(9), report(10)))["missed"] == 4


@pytest.mark.parametrize(
    ("lines", "now", "state"),
    [
        ([start()], 1005.0, "starting"),
        ([start(), report(0), report(1)], 1005.0, "running"),
        ([start(), report(0), report(1)], 1015.0, "quiet"),
        ([start(), report(0), report(1)], 1100.0, "dead"),
        ([start(), report(0), end(at=1002.0)], 1100.0, "ended"),
        ([start(), report(0), end(at=1002.0, reason="no space left")], 1100.0, "failed"),
    ],
)
def test_life_and_death(lines: list[dict[str, Any]], now: float, state: str) -> None:
    assert view(board_of(*lines), now=now)["state"] == state


def test_a_touched_file_is_a_sign_of_life() -> None:
    board = board_of(start(), report(0), report(1))
    assert join_view(board.entries["alarms"], {RUN: 1095.0}, 1100.0)["state"] == "quiet"


def test_lag_is_behind_the_stream_that_has_come_furthest() -> None:
    streams = {"A": stream(watermark=9_000_000), "B": stream(watermark=5_500_000), "C": stream(watermark=None)}
    found = view(board_of(start(), report(0, streams=streams)))
    assert {row["name"]: row["lag_s"] for row in found["streams_shown"]["rows"]} == {"A": 0.0, "B": 3.5, "C": None}


def test_a_gap_in_the_reports_is_a_gap_in_the_lines() -> None:
    found = view(board_of(start(), report(0), report(1), report(2, at=1100.0)))
    assert found["drawn"]["times"] == [1000.0, 1001.0, 1002.0, 1100.0]
    assert found["drawn"]["plots"]["results"][0]["values"][2] is None


def test_a_thousand_streams_are_the_busiest_few_and_all() -> None:
    def streams(number: int) -> dict[str, Any]:
        return {f"s{at:04}": stream(rows=number * at) for at in range(1000)}

    board = board_of(start(), *(report(number, streams=streams(number)) for number in range(3)))
    found = view(board)
    assert found["streams_shown"]["all"] == 1000
    assert [row["name"] for row in found["streams_shown"]["rows"][:2]] == ["s0999", "s0998"]
    assert len(found["streams_shown"]["rows"]) == 25
    assert [line["name"] for line in found["drawn"]["plots"]["rates"]] == [f"s{at:04}" for at in range(992, 1000)]
    assert found["rows_per_s"] == sum(range(1000))
    assert [row["name"] for row in view(board, text="0042")["streams_shown"]["rows"]] == ["s0042"]
    assert len(json.dumps(found)) < 60_000


def test_the_list_begins_with_what_runs_and_leaves_out_what_is_long_over() -> None:
    lines = [start("a", 900.0, "old"), report(0, "a", at=901.0), start("b", 9_000.0, "done"), end("b", 9_100.0)]
    board = board_of(*lines, start("c", 9_300.0, "on"), report(0, "c", at=9_399.0))
    assert [(each["name"], each["state"]) for each in joins(board.entries, {}, 9_400.0)] == [
        ("on", "running"),
        ("done", "ended"),
    ]
    assert [each["name"] for each in joins(board.entries, {}, 99_000.0)] == ["on"]


def test_history_is_an_hour_and_bounded() -> None:
    line = Timeline()
    for second in range(3 * 3600):
        line.add(float(second), {"rate": second % 10})
    times, (values,) = line.points(["rate"])
    assert len(times) <= FINE + COARSE
    assert 3600 <= times[-1] - times[0] <= 4000
    assert times == sorted(times)
    assert values[0] == 4.5


def test_very_many_joins_are_forgotten_from_the_oldest_on() -> None:
    lines = [start(f"{at:014x}", 1000.0 + at, f"query {at}") for at in range(300)]
    entries = board_of(*lines).entries
    assert len(entries) == 100
    assert "query 299" in entries


def test_recent_results_are_the_newest() -> None:
    lines = [report(at) | {"rows": {"columns": ["k"], "rows": [[str(at)]] * 8}} for at in range(10)]
    found = view(board_of(start(), *lines))["recent"]
    assert found["columns"] == ["k"]
    assert len(found["rows"]) == 30
    assert found["rows"][-1]["cells"] == ["9"]


def test_a_board_reads_what_is_in_its_folder(tmp_path: Path) -> None:
    path = write(tmp_path, [start(), report(0), {"kind": "nonsense"}, report(1)])
    os.utime(path, (1001, 1001))
    board = Board(tmp_path, lambda: 1003.0)
    board.look()
    assert board.joins()["bad"] == 1
    assert board.joins()["joins"][0]["name"] == "alarms"
    assert board.join("alarms", 25, "") is not None
    assert board.join("other", 25, "") is None


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["NaN", "<script>", "\ud800", "a" * 300, "__proto__"]),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=6), children, max_size=3),
    max_leaves=8,
)
FIELDS = ["kind", "run", "at", "query", "number", "lost", "runtime", "reason", "streams", "rows", "plans", "metrics"]
COUNTS = ["streams", "windows", "queries", "batch", "results", "frontier", "completeness", "held", "order"]


@st.composite
def odd_lines(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Good lines with some of their values replaced by anything."""
    lines: list[dict[str, Any]] = [start(), report(0), report(1), start(OTHER, 1005.0), report(0, OTHER, 1006.0), end()]
    for line in draw(st.lists(st.sampled_from(lines), max_size=4)):
        if isinstance(line.get("metrics"), dict) and draw(st.booleans()):
            line["metrics"][draw(st.sampled_from(COUNTS))] = draw(ODD)
        else:
            line[draw(st.sampled_from(FIELDS))] = draw(ODD)
    return [line for line in lines if line.get("kind") == "start" or draw(st.booleans())]


@settings(max_examples=150, deadline=None)
@given(lines=odd_lines())
def test_whatever_a_report_says_the_page_gets_plain_values(lines: list[dict[str, Any]]) -> None:
    board = Joins()
    for line in lines:
        read = read_line(json.loads(json.dumps(line)))
        if read is not None:
            board.add(read)
    for name in board.entries:
        json.dumps(view(board, name), allow_nan=False)
    json.dumps(joins(board.entries, {}, 1010.0), allow_nan=False)


BUDGET = {
    "throttle": 0.5,
    "completeness": 0.9,
    "completeness_low": 0.8,
    "completeness_high": 0.95,
    "dropped": {"A": 7},
    "kept": {"A": 0.75},
    "comparisons_skipped": 1000,
    "harvest": {
        "A": {"B": {"edges_us": [0, 1_000_000, 2_000_000, 3_000_000], "ranking": [2, 0, 1], "fraction": 2 / 3}}
    },
    "histograms": {"B": {"low_us": -1_000_000, "bin_us": 500_000, "counts": [0.0, 1.0, 3.0, 0.0]}},
}


def test_what_a_budget_does() -> None:
    memory = {"held": 50, "limit": 200, "spilled_bytes": 10, "completeness": 0.95, "trimmed": {"B": 2}}
    begun = start(budget={"memory": 12345, "cpu": 0.5})
    found = view(board_of(begun, report(0, budget=BUDGET, memory=memory), report(1, budget=BUDGET, memory=memory)))
    shed = found["shedding"]
    assert (shed["throttle"], shed["completeness"], shed["memory_budget"]) == (0.5, 0.9, 12345)
    assert (shed["memory_used"], shed["dropped"], shed["skipped"], found["dropped"]) == (0.25, 9, 1000, 9)
    looked, learned = shed["strips"]
    assert looked["title"] == "A looks into B"
    assert looked["cells"] == pytest.approx([0.25, 0.0, 0.0]), "B after A by -0.5 to 0 s is 0 to 0.5 s old for A"
    assert looked["taken"] == [True, False, True]
    assert learned["cells"] == [0.0, 0.25, 0.75, 0.0]
    assert learned["ends"] == "-1 s to 1 s"
    assert {row["name"]: row["dropped"] for row in found["streams_shown"]["rows"]} == {"A": 7.0, "B": 2.0}
    assert [line["name"] for line in found["drawn"]["plots"]["completeness"]] == ["completeness", "throttle"]


@settings(max_examples=100, deadline=None)
@given(part=st.sampled_from(["harvest", "histograms", "dropped", "kept", "throttle"]), odd=ODD, deep=st.booleans())
def test_whatever_a_budget_says_the_page_gets_plain_values(part: str, odd: Any, deep: bool) -> None:
    broken = json.loads(json.dumps({**BUDGET, part: {"A": {"B": odd}, "B": odd} if deep else odd}))
    board = Joins()
    for line in (start(), report(0, budget=broken, memory=broken), report(1, budget=odd)):
        read = read_line(json.loads(json.dumps(line)))
        assert read is not None
        board.add(read)
        json.dumps(view(board), allow_nan=False)
