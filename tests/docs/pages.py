"""The code blocks of a Markdown page, and running them one after the other like a reader would.

A ``text`` block right after a ``python`` block is what that block prints. All blocks of a page share one namespace.
"""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
# These pages need more than a session, so tests of their own run them.
ELSEWHERE = {"kafka.md": "tests/kafka", "cluster.md": "tests/cluster", "lakes.md": "tests/lakes"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page it starts on."""

    language: str
    text: str
    line: int
    prints: str | None = None


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page in order, each Python block together with what it should print."""
    fences = [token for token in MarkdownIt().parse(page.read_text()) if token.type == "fence"]
    spans = [token.map or [0, 0] for token in fences]
    for number, (fence, (start, end)) in enumerate(zip(fences, spans, strict=True)):
        shown = number + 1 < len(fences) and fences[number + 1].info == "text" and spans[number + 1][0] - end <= 1
        yield Block(fence.info, fence.content, start + 2, fences[number + 1].content if shown else None)


def run_block(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    """Execute a Python block; its tracebacks point into the page. Returns what it printed."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def needs_spark(text: str) -> bool:
    """Whether the text uses the Spark runtime or a session."""
    return "spark" in text


def marks(text: str) -> list[pytest.MarkDecorator]:
    """The marks of a test that runs this text."""
    return [pytest.mark.spark] if needs_spark(text) else []
