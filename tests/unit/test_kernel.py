"""Kernels are compiled when they are called, said to be, kept if they can be, and no part of a join's work."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail.kernel as kernel_module
from dovetail.kernel import PAUSE_S, Kernel, Notice, cpu_time, kernel, part, wall_time

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text().split("```python\n")[1].split("```")[0]
RESULT = "2026-07-01 12:00:50 attic 43.5 91.0\n"
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
COMPILING = "dovetail: compiling kernels"


@part
def _twice(value: Any) -> Any:
    return 2 * value


@kernel("int64(int64[::1])")
def _total(values: Any) -> Any:
    total = 0
    for value in values:
        total += value
    return total


_other_total = Kernel(_total.py_func, "int64(int64[::1])")


@kernel("int64(int64[::1])")
def _twice_the_total(values: Any) -> Any:
    return _twice(_total(values))


@kernel(int64="int64(int64[::1])", float64="int64(float64[::1])")
def _rounded_total(values: Any) -> Any:
    total = 0.0
    for value in values:
        total += value
    return int(total)


def test_a_kernel_may_call_another_and_parts() -> None:
    assert _twice_the_total(np.arange(4)) == 12


def test_a_kernel_is_chosen_by_the_type_of_its_first_argument() -> None:
    assert _rounded_total(np.array([1, 2])) == 3
    assert _rounded_total(np.array([1.5, 2.25])) == 3


def test_a_kernel_takes_only_its_own_types() -> None:
    for _ in range(2):  # the first call compiles
        with pytest.raises(TypeError):
            _other_total(np.array([1.5]))


def test_the_first_result_compiles_what_it_needs_and_says_so(tmp_path: Path) -> None:
    first = _run(README, tmp_path)
    assert (first.stdout, first.stderr.count("compiling")) == (RESULT, 1), first.stderr
    assert first.stderr.startswith(COMPILING)
    assert len(list(tmp_path.rglob("*.nbi"))) <= 12
    second = _run(README, tmp_path)
    assert (second.stdout, second.stderr) == (RESULT, "")


@pytest.mark.parametrize("start", ["", LIMITED], ids=["nowhere to write", "no room"])
def test_without_a_cache_it_runs_and_warns_once(start: str, tmp_path: Path) -> None:
    folder = tmp_path if start else Path("/dev/null/nowhere")
    ran = _run(start + README, folder, NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator")
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

    class Slow(Kernel):
        def compile(self, signature: Any) -> Any:
            now[0] += 100
            return super().compile(signature)

    monkeypatch.setattr(kernel_module, "time", Clocks)
    before = cpu_time(), wall_time()
    assert Slow(_total.py_func, "int64(int64[::1])")(np.arange(3)) == 3
    assert now == [105.0]
    assert (cpu_time(), wall_time()) == pytest.approx(before)


def _run(program: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment}
    return subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True)
