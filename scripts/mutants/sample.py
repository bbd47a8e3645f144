"""Mutants: small mistakes that Cosmic Ray's operators make, without those that no test could notice, drawn by a seed.

Left out by rule, before anything is drawn:
- annotations, blocks for the type checker, ``__slots__`` and ``__all__``: nobody runs them
- ``assert``: what it says is not there with ``python -O``
- ``raise`` and ``warn``: the words of a message
- ``==`` that becomes ``is`` and the reverse, which Python decides by how it keeps small values
- decorators that make something faster and change no result (kernels, caches), and the options of data classes
- keyword arguments that check or copy and change no result (``strict=`` of zip, ``copy=``)
- a constant of a module or class, of 8 or more or with a fraction, that becomes one more or one less: it is there for
  speed or memory, and its neighbour would do; constants of a few (format numbers, bits) stay
- the star in ``def f(a, *, b)``, and what would be no program any more
"""

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

FOLDERS = ("engine", "control", "runtime/spark")
_TUNING = 8  # a constant of so many or more is a size, a time or a share; below are numbers of formats, bits and counts
_NO_RESULT = {
    "strict",
    "copy",
    "zero_copy_only",
    "stacklevel",
    "daemon",
    "frozen",
    "slots",
    "kw_only",
    "repr",
    "readonly",
}
_NO_DECORATOR = {"dataclass", "kernel", "interpretable", "part", "cache", "lru_cache", "cached_property"}
_SAME = {("Eq", "Is"), ("Is", "Eq"), ("NotEq", "IsNot"), ("IsNot", "NotEq")}

_OPERATORS = {
    name: get_operator(name)()
    for name in operator_names()
    if not get_operator(name).arguments() and tuple(name.split("_")[-2:]) not in _SAME
}

Place = tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """A mistake: the file below src, the place, and which operator makes it at which of its occurrences."""

    path: str
    line: int
    column: int
    operator: str
    occurrence: int
    change: str = ""

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}:{self.column} {self.operator.removeprefix('core/')} {self.occurrence}"


def sample(src: Path, count: int, seed: int) -> list[Mutant]:
    """So many mutants: of each folder by its lines, of a line that is drawn one of its mutants."""
    dice = random.Random(seed)
    files = {folder: sorted((src / "dovetail" / folder).rglob("*.py")) for folder in FOLDERS}
    lines = {folder: sum(len(file.read_text().splitlines()) for file in files[folder]) for folder in FOLDERS}
    drawn = [
        m for folder in FOLDERS for m in _drawn(src, files[folder], count * lines[folder] // sum(lines.values()), dice)
    ]
    drawn += _drawn(src, files[FOLDERS[0]], count - len(drawn), dice)
    dice.shuffle(drawn)
    return drawn


def _drawn(src: Path, files: list[Path], count: int, dice: random.Random) -> list[Mutant]:
    by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for file in files:
        for mutant in mutants_of(file.read_text(), str(file.relative_to(src))):
            by_line[mutant.path, mutant.line].append(mutant)
    chosen: list[Mutant] = []
    for line in dice.sample(sorted(by_line), len(by_line)):
        if len(chosen) == count:
            break
        mutant = dice.choice(by_line[line])
        source = (src / mutant.path).read_text()
        if (mutated := mutated_source(source, mutant)) is not None:
            chosen.append(replace(mutant, change=_change(source, mutated)))
    return chosen


def mutants_of(source: str, path: str) -> Iterator[Mutant]:
    """All mutants of a file that the rules leave, some of which may be no program."""
    nodes, silent = [node for node in ast_nodes(get_ast(source)) if _may_change(node)], list(_silent(ast.parse(source)))
    for name, operator in _OPERATORS.items():
        places = ((node, start) for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, (node, start) in enumerate(places):
            if not _is_sign_in_parameters(node) and not any(first <= start < last for first, last in silent):
                yield Mutant(path, start[0], start[1], name, occurrence)


def mutated_source(source: str, mutant: Mutant) -> str | None:
    """The source with the mistake, if it still is a program, and another one."""
    mutated: str | None = mutate_code(source, _OPERATORS[mutant.operator], mutant.occurrence)
    try:
        return None if mutated is None or ast.dump(ast.parse(mutated)) == ast.dump(ast.parse(source)) else mutated
    except SyntaxError:
        return None


def _change(source: str, mutated: str) -> str:
    told = list(unified_diff(source.splitlines(), mutated.splitlines(), n=0))[3:]  # two lines of names, one of numbers
    return " -> ".join(line[1:].strip() for line in told)


def _silent(tree: ast.Module) -> Iterator[tuple[Place, Place]]:
    """From where to where a mistake would not be told, by the rules."""
    for node in ast.walk(tree):
        if _is_never_run(node) or _is_no_result(node):
            yield _span(node)
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            yield _span(node.annotation)
        if isinstance(node, ast.FunctionDef) and node.returns:
            yield _span(node.returns)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from (_lines(each) for each in node.decorator_list if _name(each) in _NO_DECORATOR)
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from (_span(each) for each in node.body if _is_tuning(each))


def _may_change(node: Any) -> bool:
    """Whether any operator could look at it: most of a program are names, commas and brackets."""
    return not (node.type in ("name", "string", "newline") or (node.type == "operator" and node.value in ".,:=()[]{}"))


def _is_sign_in_parameters(node: Any) -> bool:
    return node.type == "operator" and node.parent.type in ("parameters", "lambdef", "param")


def _is_never_run(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return _name(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.Assign) and _name(node.targets[0]) in ("__slots__", "__all__")


def _is_no_result(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg in _NO_RESULT
    return isinstance(node, ast.Assert | ast.Raise) or (isinstance(node, ast.Call) and _name(node) == "warn")


def _is_tuning(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    values = list(ast.walk(node.value))
    numbers = [n.value for n in values if isinstance(n, ast.Constant) and isinstance(n.value, int | float)]
    plain = all(isinstance(n, ast.Constant | ast.BinOp | ast.operator) for n in values)
    return plain and any(n >= _TUNING or n != int(n) for n in numbers)


def _name(node: ast.AST) -> str:
    """The name of what is called or named, without what stands before a dot."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _span(node: Any) -> tuple[Place, Place]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _lines(node: Any) -> tuple[Place, Place]:
    return (node.lineno, 0), (node.end_lineno + 1, 0)
