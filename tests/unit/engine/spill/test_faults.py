"""What goes wrong with disks: full, emptied by others, left behind by a process that died."""

import errno
import gc
import os
import shutil
import stat
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.policies.spill import files
from dovetail.testing import assert_same_rows

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def query(folder: Path | None = None, **options: Any) -> dv.Query:
    a, b = (dv.stream(name, time="ts", window="5 milliseconds", schema=SCHEMA) for name in "AB")
    budget = None if folder is None else dv.budget(memory=dv.tuples(300), policy="spill", folder=folder)
    return dv.join(a, b, on="A.k = B.k", select="A.k, A.ts AS a, B.ts AS b", budget=budget, **options)


def batches() -> Iterator[tuple[str, pa.Table]]:
    random = np.random.default_rng(4)
    for at in range(12):
        for name in "AB":
            times = np.sort(random.integers(at * 1000, (at + 1) * 1000, 100))
            yield name, pa.table([pa.array(times).cast(SCHEMA.field(0).type), random.integers(0, 60, 100)], SCHEMA)


def pushed(run: Any, happenings: list[tuple[str, pa.Table]]) -> list[pa.Table]:
    return [run.push(name, rows) for name, rows in happenings]


def played(run: Any) -> pa.Table:
    return pa.concat_tables([*(run.push(name, rows) for name, rows in batches()), run.close()])


class FullDisk:
    """Writes half of what is asked for, then has no room, as long as ``full`` is set."""

    full = False

    def __init__(self, path: str, mode: str) -> None:
        if FullDisk.full:
            Path(path).write_bytes(b"half of it")
            raise OSError(errno.ENOSPC, "No space left on device")
        self._file = REAL_FILE(path, mode)

    def __enter__(self) -> Any:
        return self._file

    def __exit__(self, *error: object) -> None:
        self._file.close()


REAL_FILE = pa.OSFile


class Arrow:
    """pyarrow with such a disk."""

    OSFile = FullDisk

    def __getattr__(self, name: str) -> Any:
        return getattr(pa, name)


def test_a_full_disk_is_reported_before_a_batch_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "pa", Arrow())
    run, results = query(tmp_path).local(), []
    happenings = list(batches())
    for at, (name, rows) in enumerate(happenings):
        FullDisk.full = at == 7
        results.append(run.push(name, rows))
        if at == 7:  # this one was still taken, and its results came out
            with pytest.raises(dv.BudgetError, match=r"cannot spill [\d,]+ bytes .* No space left on device"):
                run.push(*happenings[8])
            FullDisk.full = False
            run = query(tmp_path).local(snapshot=run.snapshot())  # windows are as they were
    results.append(run.close())
    assert_same_rows(pa.concat_tables(results), played(query().local()))


def test_a_folder_that_is_emptied_by_others_is_noticed(tmp_path: Path) -> None:
    spilling = query(tmp_path)
    run, results, saved = spilling.local(), [], b""
    happenings = list(batches())
    for name, rows in happenings[:10]:
        results.append(run.push(name, rows))
    saved = run.snapshot()
    assert run.metrics()["memory"]["parts"] > 0
    for folder in tmp_path.glob("dovetail-*/"):
        shutil.rmtree(folder)
    with pytest.raises(dv.StateError, match=r"spilled part \d+ .* cannot be read: .*No such file"):
        run.close()
    again = spilling.local(snapshot=saved)
    rest = [again.push(name, rows) for name, rows in happenings[10:]]
    assert_same_rows(pa.concat_tables([*results, *rest, again.close()]), played(query().local()))


def test_a_folder_removed_while_more_is_spilled_is_told_before_a_batch(tmp_path: Path) -> None:
    spilling, happenings = query(tmp_path), list(batches())
    run = spilling.local()
    results = pushed(run, happenings[:8])
    saved = run.snapshot()
    for folder in tmp_path.glob("dovetail-*/"):
        shutil.rmtree(folder)
    with pytest.raises((dv.BudgetError, dv.StateError), match="No such file"):
        pushed(run, happenings[8:])
    again = spilling.local(snapshot=saved)
    rest = pushed(again, happenings[8:])
    assert_same_rows(pa.concat_tables([*results, *rest, again.close()]), played(query().local()))


def test_only_the_owner_may_read_and_nothing_is_left_behind(tmp_path: Path) -> None:
    run = query(tmp_path / "deep" / "below").local()
    for name, rows in batches():
        run.push(name, rows)
    (folder,) = (tmp_path / "deep" / "below").glob("dovetail-*/")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.glob("*.arrow"))
    run.close()
    assert not list((tmp_path / "deep" / "below").iterdir())


def test_what_a_dead_process_left_goes_and_what_a_live_one_has_stays(tmp_path: Path) -> None:
    live = query(tmp_path).local()
    for name, rows in batches():
        live.push(name, rows)
    left = tmp_path / "dovetail-0123456789ab"
    left.mkdir()
    (left / "3.arrow").write_bytes(b"rows of a run that was killed")
    left.with_name(f"{left.name}.lock").write_bytes(files._MARK)
    query(tmp_path).local()
    assert not left.exists()
    assert len(list(tmp_path.glob("dovetail-*/"))) == 1
    live.close()


def test_what_others_made_under_such_a_name_stays(tmp_path: Path) -> None:
    theirs = tmp_path / "dovetail-notes"
    theirs.mkdir()
    (theirs / "3.arrow").write_text("not ours")
    (tmp_path / "dovetail-notes.lock").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "4.arrow").write_text("not ours")
    (tmp_path / "dovetail-away").symlink_to(elsewhere)
    (tmp_path / "dovetail-away.lock").write_bytes(files._MARK)
    mixed = tmp_path / "dovetail-mixed"
    mixed.mkdir()
    (mixed / "letter.txt").write_text("put here by somebody")
    (tmp_path / "dovetail-mixed.lock").write_bytes(files._MARK)
    os.mkfifo(tmp_path / "dovetail-fifo.lock")
    query(tmp_path).local()
    assert (theirs / "3.arrow").exists()
    assert (elsewhere / "4.arrow").exists()
    assert (mixed / "letter.txt").exists()


def spilled_paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("dovetail-*/*.arrow"))


@pytest.mark.parametrize("place", [0, 3, 5, 0.3, 0.6, 0.9, 0.999])
def test_a_changed_byte_in_a_part_is_told_and_never_read(tmp_path: Path, place: float) -> None:
    run = query(tmp_path).local()
    pushed(run, list(batches())[:10])
    for path in spilled_paths(tmp_path):
        data = bytearray(path.read_bytes())
        data[int(place if isinstance(place, int) else place * len(data))] ^= 1
        path.write_bytes(data)
    why = ", or has format 3" if place == 3 else ": .*checksum"  # that byte is the number of the format
    with pytest.raises(dv.StateError, match=rf"dovetail-\w+/\d+\.arrow.* is damaged{why}"):
        run.close()


@pytest.mark.parametrize("kept", [0, 6, 0.5])
def test_a_part_cut_short_is_told(tmp_path: Path, kept: float) -> None:
    run = query(tmp_path).local()
    pushed(run, list(batches())[:10])
    for path in spilled_paths(tmp_path):
        data = path.read_bytes()
        path.write_bytes(data[: int(kept if isinstance(kept, int) else kept * len(data))])
    with pytest.raises(dv.StateError, match=r"\.arrow|spilled part"):
        run.close()


def in_a_child(action: Callable[[], object]) -> int:
    """The exit code of a forked process that ends as a script does: with what it has registered for its end."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 1
    try:
        action()
        code = 0
    finally:
        gc.collect()
        weakref.finalize._exitfunc()  # type: ignore[attr-defined]  # what sys.exit() would run
        os._exit(code)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_leaves_its_parents_rows_alone(tmp_path: Path) -> None:
    happenings = list(batches())
    runs = [query(tmp_path).local()]
    results = pushed(runs[0], happenings[:10])
    assert spilled_paths(tmp_path)
    assert in_a_child(lambda: None) == 0
    assert in_a_child(runs.clear) == 0
    assert in_a_child(lambda: refused(runs[0], happenings[10:])) == 0
    rest = pushed(runs[0], happenings[10:])
    assert_same_rows(pa.concat_tables([*results, *rest, runs[0].close()]), played(query().local()))
    assert not os.listdir(tmp_path)


def refused(run: Any, rest: list[tuple[str, pa.Table]]) -> None:
    with pytest.raises(dv.StateError, match=r"belong to the run in process \d+"):
        pushed(run, rest * 3)


def test_a_folder_that_cannot_be_used_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(dv.BudgetError, match=r"cannot spill to '.*file/below': .*; choose another folder"):
        query(tmp_path / "file" / "below").local()


def test_a_snapshot_with_spilled_rows_needs_a_budget_to_go_on(tmp_path: Path) -> None:
    run = query(tmp_path).local()
    for name, rows in batches():
        run.push(name, rows)
    with pytest.raises(dv.StateError, match="the state holds spilled rows"):
        query().local(snapshot=run.snapshot())
    assert os.listdir(tmp_path)
