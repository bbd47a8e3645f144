"""Mutation testing: which mistakes are made, that loaded code gets them, and what is said in the end."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

from scripts.mutants.__main__ import report
from scripts.mutants.in_memory import put_into_memory
from scripts.mutants.kernels import users
from scripts.mutants.sample import Mutant, mutants_of, mutated_source, sample

KERNELS = Path(__file__).parents[2] / "src/dovetail/engine/kernels"


def mutated(source: str) -> set[str]:
    """All mutants of a source."""
    made = (mutated_source(source, mutant) for mutant in mutants_of(source, "a.py"))
    return {ast.unparse(ast.parse(each)) for each in made if each is not None}


def test_a_line_is_changed_in_many_ways() -> None:
    made = mutated("x = a < b + 1")
    assert {"x = a <= b + 1", "x = a >= b + 1", "x = a < b - 1", "x = a < b + 2", "x = a < b + 0"} <= made
    assert "x = a < b + 1" not in made


@pytest.mark.parametrize(
    "source",
    [
        "def f(a: int | None) -> int | None: ...",
        "a: int | str",
        "assert a < 1",
        "raise ValueError(f'{1 + 2} is too much')",
        "if TYPE_CHECKING:\n    a = 1 + 1",
        "__slots__ = (1,)",
        "ROOM = 1024 * 2",
        "SHARE = 0.5",
        "@kernel('int64(int64)')\ndef f(a): ...",
        "@dataclass(frozen=True)\nclass A: ...",
        "zip(a, b, strict=True)",
        "def f(a, *, b): ...",
    ],
)
def test_what_no_test_could_notice_is_left_out(source: str) -> None:
    assert mutated(source) == set()


@pytest.mark.parametrize("source", ["FORMAT = 2", "def f():\n    return 1024", "@property\ndef f(a): ..."])
def test_what_a_test_could_notice_is_not(source: str) -> None:
    assert mutated(source) != set()


def test_a_seed_draws_the_same_mutants_from_all_folders(tmp_path: Path) -> None:
    for folder, lines in (("engine", 60), ("control", 20), ("runtime/spark", 20)):
        (tmp_path / "dovetail" / folder).mkdir(parents=True)
        (tmp_path / "dovetail" / folder / "a.py").write_text("x = a + b\n" * lines)
    drawn = sample(tmp_path, 10, seed=1)
    assert drawn == sample(tmp_path, 10, seed=1) != sample(tmp_path, 10, seed=2)
    assert [sum(folder in mutant.path for mutant in drawn) for folder in ("engine", "control", "spark")] == [6, 2, 2]
    assert len({(mutant.path, mutant.line) for mutant in drawn}) == 10


def loaded(source: str) -> ModuleType:
    module = ModuleType("loaded")
    exec(compile(source, "loaded.py", "exec"), module.__dict__)
    return module


def test_loaded_functions_get_the_mistake_wherever_they_are_held() -> None:
    source = "class A:\n    def f(self, x): return [y + 1 for y in x]\nheld = {'g': lambda x: x * 2}\n"
    module = loaded(source)
    bound, held = module.A().f, module.held["g"]
    assert put_into_memory("loaded.py", source, source.replace("y + 1", "y - 1"))
    assert put_into_memory("loaded.py", source, source.replace("x * 2", "x * 3"))
    assert (bound([1]), held(1)) == ([0], 3)


@pytest.mark.parametrize("change", [("LIMIT = 1", "LIMIT = 2"), ("x=5", "x=6"), ("@staticmethod", "")])
def test_what_runs_while_a_module_is_loaded_needs_a_new_process(change: tuple[str, str]) -> None:
    source = "LIMIT = 1\nclass A:\n    @staticmethod\n    def f(x=5): return x\n"
    loaded(source)
    assert not put_into_memory("loaded.py", source, source.replace(*change))


def test_kernels_that_use_a_mutated_part_are_compiled_again() -> None:
    assert users(KERNELS, "bands") >= {"bands", "cells", "runs", "scans", "pairs"}
    assert "codes" not in users(KERNELS, "bands")


def test_a_loop_for_ever_is_a_mistake_that_is_noticed() -> None:
    mutants = [Mutant("a.py", line, 0, "core/AddNot", 0) for line in range(5)]
    said = ["killed", "timeout", "survived", "killed"]
    verdicts = {m.name: {"verdict": v, "tests": 3, "of": 4} for m, v in zip(mutants, said, strict=False)}
    told = report(mutants, verdicts)
    counts = {name: told[name] for name in ("sampled", "mutants", "killed", "survived", "timeouts", "share")}
    assert counts == {"sampled": 5, "mutants": 4, "killed": 3, "survived": 1, "timeouts": 1, "share": 0.75}
    assert [each["line"] for each in told["survivors"]] == [2]
