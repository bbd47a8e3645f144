"""Which tests run a line, found once by coverage with a context for each test, and in which order they are tried."""

import json
import re
from collections import defaultdict
from itertools import chain, zip_longest
from pathlib import Path

from coverage import CoverageData

from scripts.mutants.sample import Mutant

_UNKNOWN_S = 4.0  # what a test takes that was not run for the map: those with Spark, mostly


class TestsOf:
    """Tests by the lines that they run."""

    __test__ = False

    def __init__(self, folder: Path, src: Path, names: list[str]) -> None:
        self._src = src
        self._seconds: dict[str, float] = {}
        self._lines = CoverageData(no_disk=True)
        for part in sorted(folder.glob("*.json")):
            self._seconds |= json.loads(part.read_text())
            data = CoverageData(str(part.with_suffix(".coverage")))
            data.read()
            self._lines.update(data)
        self._failing = {name for name in self._seconds if self._seconds[name] < 0}
        self._collected = set(names)
        self._unseen = [name for name in names if name not in self._seconds]
        self._texts = {file: Path(file).read_text() for file in {_file(name) for name in names}}

    def leave_out(self, name: str) -> None:
        """It fails without a mistake, now and then."""
        self._failing.add(name)

    def seconds(self, names: list[str]) -> float:
        """How long tests take without a mistake."""
        return sum(self._seconds.get(name, _UNKNOWN_S) for name in names)

    def in_order(self, mutant: Mutant) -> list[str]:
        """The tests that run the line, or else something of its file; the nearest first."""
        by_line = self._lines.contexts_by_lineno(str(self._src / mutant.path))
        found = set(by_line.get(mutant.line, ())) or set(chain.from_iterable(by_line.values()))
        return self._ordered(mutant, [name for name in found & self._collected if name not in self._failing])

    def guessed(self, mutant: Mutant) -> list[str]:
        """Tests that were not run for the map, and may run something of the Spark runtime in processes of Spark's."""
        if "runtime/spark" not in mutant.path:
            return []
        return self._ordered(mutant, [name for name in self._unseen if name not in self._failing])

    def _ordered(self, mutant: Mutant, names: list[str]) -> list[str]:
        """One test of each file in turn, the nearest file first and the shortest test of a file first."""
        files: dict[str, list[str]] = defaultdict(list)
        for name in sorted(names, key=lambda name: (self._seconds.get(name, _UNKNOWN_S), name)):
            files[_file(name)].append(name)
        nearest = sorted(files, key=lambda file: (self._distance(mutant, file), file))
        return [name for turn in zip_longest(*(files[file] for file in nearest)) for name in turn if name]

    def _distance(self, mutant: Mutant, file: str) -> tuple[int, int]:
        module = mutant.path.removesuffix(".py").replace("/", ".")
        shared = _words(mutant.path) & _words(file)
        return int(module not in self._texts[file]), -len(shared)


def _words(path: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall("[a-z]+", path)} - {
        "src",
        "dovetail",
        "runtime",
        "spark",
        "test",
        "unit",
        "py",
    }


def _file(name: str) -> str:
    return name.partition("::")[0]
