"""As-of joins that spill: how much is in memory and on disk, when results come, and what goes wrong with disks."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.policies.spill import files
from dovetail.testing import assert_same_rows
from tests.unit.engine.asof.test_state import query, rows
from tests.unit.engine.spill.test_faults import FullDisk

STEP = 1_000


def little(most: int = 100, **options: Any) -> dv.Budget:
    return dv.budget(memory=dv.tuples(most), policy="spill", **options)


def memory(run: Any) -> dict[str, Any]:
    return dict(run.metrics()["memory"])


def happenings(seed: int, batches: int = 6, keys: int = 200) -> list[tuple[str, pa.Table]]:
    """Quotes and trades side by side, many keys."""
    random = np.random.default_rng(seed)
    found = []
    for batch in range(batches):
        for name, count in (("Q", 150), ("T", 60)):
            times = np.sort(random.integers(batch * STEP, (batch + 1) * STEP, count))
            found.append((name, rows(times, random.integers(0, keys, count))))
    return found


def played(run: Any, pushes: list[tuple[str, pa.Table]]) -> pa.Table:
    return pa.concat_tables([*(run.push(name, table) for name, table in pushes), run.close()])


@pytest.mark.parametrize(
    ("direction", "tolerance", "limit"),
    [("backward", None, "20 kB"), ("nearest", 700, dv.tuples(100)), ("forward", 700, "20 kB")],
)
def test_what_is_held_stays_within_the_budget(direction: Any, tolerance: int | None, limit: Any) -> None:
    asof, pushes = dv.AsOf(direction, tolerance), happenings(1)
    run, found = query(asof, how="left", budget=dv.budget(memory=limit, policy="spill")).local(), []
    for name, table in pushes:
        found.append(run.push(name, table))
        account = memory(run)
        waiting = run.metrics()["waiting_bytes"] if isinstance(limit, str) else 0
        assert account["held"] <= account["limit"] + waiting
    assert account["flushes"] > 0
    found.append(run.close())
    assert memory(run)["disk_results"] > 0
    assert_same_rows(pa.concat_tables(found), played(query(asof, how="left").local(), pushes))


def test_what_newer_rows_have_replaced_leaves_the_disk() -> None:
    run, keys, random = query(dv.asof(), budget=little()).local(), 150, np.random.default_rng(2)
    most = 0
    for batch in range(12):
        times = np.arange(batch * STEP, (batch + 1) * STEP, 10)
        run.push("Q", rows(times, random.integers(0, keys, len(times))))
        run.push("T", rows(times[-1:], [0]))
        most = max(most, memory(run)["spilled"])
    assert 2 * keys < memory(run)["flushed_tuples"]
    assert most < 5 * keys


def test_what_lies_beyond_the_tolerance_leaves_the_disk() -> None:
    run = query(dv.AsOf("nearest", 2 * STEP), how="left", budget=little()).local()
    for batch in range(15):
        times = np.arange(batch * STEP, (batch + 1) * STEP, 20)
        run.push("Q", rows(times, times))  # keys that never come again
        run.push("T", rows(times, -times))
        assert memory(run)["spilled"] <= 2 * 4 * 50  # twice what the tolerance asks for, of both streams
    assert memory(run)["flushed_tuples"] > 500


def test_rows_found_in_memory_come_at_once_and_others_in_a_pause() -> None:
    run = query(dv.asof(), budget=little()).local()
    run.tick(10**15)
    run.push("Q", rows(np.arange(1_000), np.arange(1_000)))
    run.push("Q", rows([2_000], [0]))
    assert run.push("T", rows([1_500, 1_500], [990, 7]))["q"].to_pylist() == [990]
    run.tick(10**15 + 10**6)
    assert run.operator.awaits(10**15 + 10**6)
    assert run.tick(10**15 + 10**12)["q"].to_pylist() == [7]
    assert not run.operator.awaits(10**15 + 10**12)


def test_a_full_disk_refuses_the_next_batch_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asof, pushes = dv.AsOf("nearest", 700), happenings(4)
    run, found = query(asof, how="left", budget=little(folder=str(tmp_path))).local(), []
    monkeypatch.setattr(files, "pa", SimpleNamespace(OSFile=FullDisk, py_buffer=pa.py_buffer))
    refused = 0
    for at, (name, table) in enumerate(pushes):
        FullDisk.full = at % 9 in (4, 5, 6, 7)
        try:
            found.append(run.push(name, table))
        except dv.BudgetError:
            refused += 1
            FullDisk.full = False
            found.append(run.push(name, table))
    assert refused > 0
    found.append(run.close())
    assert not list(tmp_path.iterdir())
    assert_same_rows(pa.concat_tables(found), played(query(asof, how="left").local(), pushes))


def test_a_snapshot_with_spilled_rows_needs_a_budget_that_spills() -> None:
    asof = dv.asof()
    run = query(asof, budget=little()).local()
    run.push("Q", rows(np.arange(200), np.arange(200)))
    assert memory(run)["spilled"] > 0
    with pytest.raises(dv.StateError, match="go on with a budget"):
        query(asof).local(snapshot=run.snapshot())
    other = query(asof, budget=little(50)).local(snapshot=run.snapshot())
    other.advance("Q", 5_000)
    assert pa.concat_tables([other.push("T", rows([4_000], [7])), other.close()])["q"].to_pylist() == [7]


def test_waiting_input_that_does_not_fit_is_refused_by_name() -> None:
    run = query(dv.asof(), budget=dv.budget(memory="20 kB", policy="spill")).local()
    run.push("T", rows(np.arange(5_000), np.arange(5_000)))  # waits for quotes
    with pytest.raises(dv.BudgetError, match="Waiting input and held output stay in memory"):
        run.push("T", rows([6_000], [1]))
