"""A pytest run that collects the tests once and then, for each mutant, runs those that reach it in a fork of itself.

A fork has all modules loaded; the mistake is put into them, and into the copy of the package on disk that other
processes load (Spark's workers, commands). Where that does not do, a new process runs the same tests.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import psutil
import pytest
from coverage import Coverage
from hypothesis import settings

from dovetail.kernel import Kernel, cpu_time
from scripts.mutants.copied import on_disk
from scripts.mutants.in_memory import put_into_memory
from scripts.mutants.kernels import cache_without
from scripts.mutants.sample import Mutant, mutated_source
from scripts.mutants.tests_of import TestsOf

_NEW_PROCESS, _BROKEN = 77, 78  # exit codes of a fork: it cannot hold the mistake; this program failed, and no test
_SLACK = 3.0  # times the CPU time of tests without a mistake: after that they are taken to run for ever
_START_S = 60.0  # more than it takes to begin: loading, compiling kernels, starting Spark
_WAITS = 3.0  # times that, neither running nor ready to run: it waits for what does not come
_EXAMPLES = 5  # random cases per test while the map is made: most lines are reached by the first few
_FULL = 30  # random cases otherwise


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant (killed, timeout, survived), by which test; ``tests`` were tried ``of`` those near it."""

    name: str
    verdict: str
    by: str = ""
    seconds: float = 0.0
    tests: int = 0
    of: int = 0


class Server:
    """Runs the tests of each mutant and writes one line about it at once."""

    def __init__(
        self, folder: Path, mutants: list[Mutant], longest_s: float, with_spark: bool, pause: Path | None
    ) -> None:
        self._folder, self._src, self._mutants = folder, folder / "src", mutants
        self._longest_s, self._with_spark, self._pause = longest_s, with_spark, pause

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        import numba  # noqa: F401 - loaded once, for all forks

        signal.signal(signal.SIGTERM, signal.default_int_handler)
        items = {item.nodeid: item for item in session.items}
        self._map(session)
        tests = TestsOf(self._folder / "map", self._src, list(items))
        for mutant in self._mutants:
            self._wait()
            verdict = self._tried(session, items, tests, mutant)
            with (self._folder / "verdicts.jsonl").open("a") as file:
                file.write(json.dumps(verdict.__dict__) + "\n")
            print(verdict, mutant.change, flush=True)
        return True

    def _wait(self) -> None:
        while self._pause is not None and self._pause.exists():
            time.sleep(3)

    def _map(self, session: pytest.Session) -> None:
        """For each file of tests, which lines each test runs and how long it takes; a file that is there stays."""
        parts = self._folder / "map"
        parts.mkdir(exist_ok=True)
        files: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            if item.get_closest_marker("spark") is None:
                files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        for file, items in files.items():
            part = parts / (file.removesuffix(".py").replace("/", "-") + ".json")
            if not part.exists():
                self._wait()
                _forked(lambda items=items, part=part: _mapped(session, items, part, self._src), 1800, parts / "log")  # type: ignore[misc]

    def _tried(self, session: pytest.Session, items: dict[str, pytest.Item], tests: TestsOf, mutant: Mutant) -> Verdict:
        """Until a test fails that passes without the mistake, or all that were chosen pass."""
        began = time.monotonic()
        while True:
            every = tests.in_order(mutant)
            chosen = _within(every, tests, self._longest_s)
            if self._with_spark:
                guessed = tests.guessed(mutant)
                every, chosen = every + guessed, chosen + _within(guessed, tests, self._longest_s)
            if not chosen:
                return Verdict(mutant.name, "survived")
            some = [items[name] for name in chosen]
            verdict, by = self._tests_say(session, some, mutant, _START_S + _SLACK * tests.seconds(chosen))
            if by not in items or not self._fails_anyway(session, items[by]):
                return Verdict(mutant.name, verdict, by, round(time.monotonic() - began, 1), len(chosen), len(every))
            tests.leave_out(by)

    def _tests_say(
        self, session: pytest.Session, items: list[pytest.Item], mutant: Mutant, most_s: float
    ) -> tuple[str, str]:
        file, log, failed = self._src / mutant.path, self._folder / "log", self._folder / "failed"
        source = file.read_text()
        mutated = mutated_source(source, mutant)
        assert mutated is not None
        failed.write_text("")

        def job() -> int:
            if not put_into_memory(str(file), source, mutated):
                return _NEW_PROCESS
            return _run(session, items, failed)

        with on_disk(file, mutated), cache_without(self._folder, mutant.path):
            code = _forked(job, most_s, log)
            if code == _NEW_PROCESS:
                code = _new_process([item.nodeid for item in items], most_s, log)
                failed.write_text(
                    next(iter(re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", log.read_text(), re.M)), "")
                )
        if code == _BROKEN:
            raise RuntimeError(log.read_text())
        return "timeout" if code is None else "survived" if code == 0 else "killed", failed.read_text()

    def _fails_anyway(self, session: pytest.Session, item: pytest.Item) -> bool:
        return _forked(lambda: _run(session, [item], self._folder / "failed"), _START_S * 5, self._folder / "log") != 0


def _within(names: list[str], tests: TestsOf, longest_s: float) -> list[str]:
    """As many of them, from the first on, as there is time for."""
    chosen: list[str] = []
    for name in names:
        if (left := longest_s - tests.seconds([name])) < 0:
            continue
        longest_s = left
        chosen.append(name)
    return chosen


def _run(session: pytest.Session, items: list[pytest.Item], failed: Path) -> int:
    """Whether a test fails, whose name is left in a file."""
    for item, after in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.testsfailed:
            failed.write_text(item.nodeid)
            return 1
    return 0


def _new_process(names: list[str], most_s: float, log: Path) -> int | None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *names]
    with log.open("w") as out:
        started = subprocess.Popen(command, stdout=out, stderr=out, process_group=0)
        return _ended(started.pid, most_s)


def _forked(job: Callable[[], int], most_s: float, log: Path) -> int | None:
    """The exit code of a job in a fork, or nothing if it took too long."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        code = _BROKEN
        try:
            code = job()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return _ended(pid, most_s)


def _ended(pid: int, most_s: float) -> int | None:
    """The exit code of a process, or nothing if it took too long; whatever it has started ends with it."""
    process, began = psutil.Process(pid), time.monotonic()
    try:
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            spent = process.cpu_times()
            if spent.user + spent.system > most_s or _idle_s(pid, began) > _WAITS * most_s:
                return None
            time.sleep(0.05)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _idle_s(pid: int, began: float) -> float:
    """How long a process has neither run nor been ready to: on a busy machine the clock alone says little."""
    ran_ns, ready_ns, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    return time.monotonic() - began - (int(ran_ns) + int(ready_ns)) / 1e9


def _mapped(session: pytest.Session, items: list[pytest.Item], part: Path, src: Path) -> int:
    """Run tests with few random cases each; seconds below zero are those of a test that fails."""
    settings.register_profile("map", settings.get_profile("ci"), max_examples=_EXAMPLES)
    settings.load_profile("map")
    coverage = Coverage(data_file=str(part.with_suffix(".coverage")), source=[str(src / "dovetail")], config_file=False)
    called: set[FunctionType] = set()
    inner = Kernel.__call__

    def noted(self: Kernel, *arguments: Any) -> Any:
        called.add(self.py_func)  # type: ignore[arg-type]
        return inner(self, *arguments)

    Kernel.__call__ = noted  # type: ignore[method-assign]
    seconds: dict[str, float] = {}
    kernels: dict[str, set[FunctionType]] = {}
    coverage.start()
    for item, after in zip(items, [*items[1:], None], strict=True):
        coverage.switch_context(item.nodeid)
        failed, began = session.testsfailed, _cpu_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        took = (_cpu_time() - began) * (_FULL / _EXAMPLES if hasattr(item.obj, "hypothesis") else 1)  # type: ignore[attr-defined]
        seconds[item.nodeid] = round(took, 3) if session.testsfailed == failed else -1.0
        kernels[item.nodeid] = set(called)
        called.clear()
    coverage.stop()
    data = coverage.get_data()
    for name, functions in kernels.items():
        data.set_context(name)
        for function in _with_parts(functions):
            data.add_lines({function.__code__.co_filename: [line for *_, line in function.__code__.co_lines() if line]})
    coverage.save()
    part.write_text(json.dumps(seconds))
    return 0


def _cpu_time() -> float:
    """Of this process and those that it has started, without what compiling kernels took."""
    return sum(os.times()[:4]) - (time.thread_time() - cpu_time())


def _with_parts(functions: set[FunctionType]) -> set[FunctionType]:
    """Kernels and the kernels that they call, which are compiled as one."""
    found, left = set(functions), list(functions)
    while left:
        function = left.pop()
        used = (getattr(function.__globals__.get(name), "py_func", None) for name in function.__code__.co_names)
        inside = {each for each in used if each is not None} - found
        found |= inside
        left += inside
    return found
