"""Cases as files that are SQL themselves: a title, a text, and what must come of it.

    -- # one window for all
    SELECT ...
    --> inner
    --> T: window 10 minutes

``python -m tests.language.cases`` writes what comes of every text below it: read the difference before you keep it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.language import catalogue, files

FOLDER = Path(__file__).parent
ANSWERS: dict[str, Callable[[str], Iterable[str]]] = {
    "good": catalogue.summary,
    "bad": catalogue.complaint,
    "pipelines/good": files.summary,
    "pipelines/bad": files.complaint,
}


@dataclass(frozen=True)
class Case:
    """A text with its title, and the lines that must come of it."""

    title: str
    text: str
    lines: list[str]


def cases(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    for part in path.read_text().split("-- # ")[1:]:
        title, *rest = part.rstrip().splitlines()
        text = "\n".join(line for line in rest if not line.startswith("-->"))
        yield Case(title, text, [line[3:].removeprefix(" ") for line in rest if line.startswith("-->")])


def all_cases(folder: str) -> list[Case]:
    """The cases of all files in a folder."""
    return [case for path in sorted((FOLDER / folder).glob("*.sql")) for case in cases(path)]


def rewrite(path: Path, answer: Callable[[str], Iterable[str]]) -> None:
    """Put what comes of every text below it."""
    parts = []
    for case in cases(path):
        answered = "\n".join(f"--> {line}".rstrip() for line in answer(case.text))
        parts.append(f"-- # {case.title}\n{case.text}\n{answered}\n")
    path.write_text("\n".join(parts))


if __name__ == "__main__":
    for folder, answer in ANSWERS.items():
        for path in sorted((FOLDER / folder).glob("*.sql")):
            rewrite(path, answer)
