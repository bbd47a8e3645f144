"""Kernels are compiled when they are called, said to be, kept if they can be, and no part of a join's work."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail.kernel as kernel_module
from dovetail.compiler import PAUSE_S, Compiled, Notice
from dovetail.kernel import FewRows, Kernel, cpu_time, interpretable, part, wall_time

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text().split("```python\n")[1].split("```")[0]
RESULT = "2026-07-01 12:00:50 attic 43.5 91.0\n"
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
MANY = "from dovetail.kernel import few_rows; few_rows.left_s = 0.0\n"  # as if there had been many rows before
COMPILING = "dovetail: compiling kernels"


@part
def _twice(value: Any) -> Any:
    return 2 * value


@interpretable("int64(int64[::1])")
def _total(values: Any) -> Any:
    total = 0
    for value in values:
        total += value
    return total


_other_total = Kernel(_total.py_func, "int64(int64[::1])")


@interpretable("int64(int64[::1])")
def _twice_the_total(values: Any) -> Any:
    return _twice(_total(values))


@interpretable(int64="int64(int64[::1])", float64="int64(float64[::1])")
def _rounded_total(values: Any) -> Any:
    total = 0.0
    for value in values:
        total += value
    return int(total)


@pytest.fixture(params=["interpreted", "compiled"])
def few_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FewRows:
    """The rows of a process that has just begun, or of one that has had many."""
    rows = FewRows()
    rows.left_s = 3600.0 if request.param == "interpreted" else 0.0
    monkeypatch.setattr(kernel_module, "few_rows", rows)
    return rows


def test_a_kernel_may_call_another_and_parts(few_rows: FewRows) -> None:
    assert _twice_the_total(np.arange(4)) == 12


def test_a_kernel_is_chosen_by_the_type_of_its_first_argument(few_rows: FewRows) -> None:
    assert _rounded_total(np.array([1, 2])) == 3
    assert _rounded_total(np.array([1.5, 2.25])) == 3


def test_numbers_wrap_and_come_back_plain_either_way(few_rows: FewRows) -> None:
    shifted = interpretable("Tuple((int64, boolean))(int64[::1], int64)")(lambda values, by: (values[0] + by, by > 0))
    found = shifted(np.array([2**63 - 1]), 1)
    assert found == (-(2**63), True)
    assert [type(each) for each in found] == [int, bool]


def test_few_rows_are_interpreted_until_many_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "few_rows", FewRows())
    fresh = Kernel(_total.py_func, "int64(int64[::1])", interpreted=True)
    assert fresh(np.arange(10)) == 45
    assert fresh.run != fresh.compiled
    assert fresh(np.arange(FewRows.MOST + 1)) == FewRows.MOST * (FewRows.MOST + 1) // 2
    assert fresh.run == fresh.compiled
    other = Kernel(_total.py_func, "int64(int64[::1])", interpreted=True)
    assert other(np.arange(10)) == 45
    assert other.run == other.compiled, "from then on all are"


def test_few_rows_are_interpreted_until_they_have_taken_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "few_rows", rows := FewRows())
    fresh = Kernel(_total.py_func, "int64(int64[::1])", interpreted=True)
    calls = 0
    while fresh.run != fresh.compiled and calls < 100_000:
        assert fresh(np.arange(1000)) == 499_500
        calls += 1
    assert 1 < calls < 100_000
    assert rows.left_s <= 0


def test_a_kernel_takes_only_its_own_types() -> None:
    for _ in range(2):  # the first call compiles
        with pytest.raises(TypeError):
            _other_total(np.array([1.5]))


def test_a_small_first_result_needs_no_compiler(tmp_path: Path) -> None:
    ran = _run(README + "import sys; assert not {'numba', 'llvmlite'} & set(sys.modules)", tmp_path)
    assert (ran.stdout, ran.stderr) == (RESULT, "")
    assert not list(tmp_path.rglob("*.nbi"))


def test_a_first_result_of_many_rows_compiles_what_it_needs_and_says_so(tmp_path: Path) -> None:
    first = _run(MANY + README, tmp_path)
    assert (first.stdout, first.stderr.count("compiling")) == (RESULT, 1), first.stderr
    assert first.stderr.startswith(COMPILING)
    assert len(list(tmp_path.rglob("*.nbi"))) <= 12
    second = _run(MANY + README, tmp_path)
    assert (second.stdout, second.stderr) == (RESULT, "")


@pytest.mark.parametrize("start", ["", LIMITED], ids=["nowhere to write", "no room"])
def test_without_a_cache_it_runs_and_warns_once(start: str, tmp_path: Path) -> None:
    folder = tmp_path if start else Path("/dev/null/nowhere")
    ran = _run(start + MANY + README, folder, NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator")
    assert (ran.returncode, ran.stdout) == (0, RESULT), ran.stderr
    assert ran.stderr.count("compiled kernels cannot be kept") == 1, ran.stderr
    assert "set NUMBA_CACHE_DIR" in ran.stderr


def test_what_is_compiled_later_is_said_again(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    notice = Notice(lambda: now[0])
    for at in (0.0, 1.0, 1.0 + PAUSE_S, 3.0 + 2 * PAUSE_S):
        now[0] = at
        notice.on_start(None)
        notice.on_end(None)
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(" for ")[0] for line in said] == [COMPILING, "dovetail: compiling more kernels"]


def test_a_kernel_that_is_compiled_for_another_is_not_said_twice(capsys: pytest.CaptureFixture[str]) -> None:
    notice = Notice(iter([0.0, 60.0]).__next__)
    notice.on_start(None)
    notice.on_start(None)
    notice.on_end(None)
    notice.on_end(None)
    assert capsys.readouterr().err.count("compiling") == 1


def test_compiling_is_no_work_of_the_join(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [5.0]

    class Clocks:
        thread_time = perf_counter = staticmethod(lambda: now[0])

    class Slow(Compiled):
        def compile(self, signature: Any) -> Any:
            now[0] += 100
            return super().compile(signature)

    monkeypatch.setattr(kernel_module, "time", Clocks)
    before = cpu_time(), wall_time()
    slow = Kernel(_total.py_func, "int64(int64[::1])")
    slow.compiled = Slow(_total.py_func, "int64(int64[::1])")
    assert slow(np.arange(3)) == 3
    assert now == [105.0]
    assert (cpu_time(), wall_time()) == pytest.approx(before)


def _run(program: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment}
    return subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True)
