from collections.abc import Callable

import pytest

from benchmarks import cold, small
from benchmarks.embedded import compare
from benchmarks.growth import measure
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.pushing import blocks_of, checked, in_order
from benchmarks.settings import Settings
from benchmarks.workloads import Workload, band, equi, equi3, equi_wide

ROWS = 20_000
SMALL: dict[str, Callable[[int], Workload]] = {"equi": equi, "equi3": equi3, "equi-wide": equi_wide, "band": band}


@pytest.mark.parametrize("name", SMALL)
def test_results_are_equal_and_speeds_are_ratios(name: str) -> None:
    found = compare(SMALL[name](ROWS), repeats=1)
    assert found["results_equal"]
    assert found["results"] > 0
    ours, theirs = found["dovetail_rows_per_s"]["1000"], found["duckdb_rows_per_s"]
    assert found["vs_duckdb"]["1000"] == pytest.approx(ours / theirs, rel=0.01)


def test_no_speed_where_results_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.embedded.checked", lambda *_: None)
    assert set(compare(equi(1_000), repeats=1)) == {"rows", "results", "results_equal"}


@pytest.mark.parametrize("order", ["sync", "hold", "adaptive"])
def test_ordered_output_is_checked(order: str) -> None:
    workload = equi(ROWS, lag_us=300_000)
    blocks = blocks_of(workload, 1_000)
    assert in_order(workload.query(order=order), blocks)
    assert not in_order(workload.query(), blocks)
    assert checked(workload.query(order=order), blocks, workload.checked) == OfflineJoin(workload).sum()


@pytest.mark.parametrize("kind", ["hash", "sorted"])
def test_growth_measures_cost_and_weight(kind: str) -> None:
    point = measure(kind, tuples=2_000, least=10_000)
    assert 0.8 < point.matches_per_tuple < 1.2
    assert 24 < point.bytes_per_tuple < 88
    assert min(point.ns_per_tuple.values()) > 0


def test_every_block_of_every_stream_is_pushed_in_turn() -> None:
    workload = equi(2_500)
    blocks = blocks_of(workload, 1_000)
    assert [(name, block.num_rows) for name, block in blocks] == [(s, n) for n in (1_000, 1_000, 500) for s in "AB"]


def test_small_pushes_are_timed_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "PROFILED", 5)
    monkeypatch.setattr(small, "WORKLOADS", {"equi": equi})
    found = small.run(Settings(40_000, True)).fields["workloads"]["equi"]
    assert found["results_equal"]
    assert 0 < found["median_us"]["1"] <= found["slow_us"]["1"]
    assert 50 < found["calls"]["1"] < 2_000


def test_a_first_start_is_a_program_of_its_own() -> None:
    assert cold._seconds(cold.PROGRAM.replace("ROWS", "100"), 100, "") > 0
    with pytest.raises(AssertionError):
        cold._seconds(cold.PROGRAM.replace("ROWS", "100"), 99, "")
