"""Every page does what it says: its Python runs and prints what is shown, its commands and links exist."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from dovetail.cli import app
from tests.docs.pages import ELSEWHERE, PAGES, ROOT, Block, blocks, marks, needs_spark, run_block

LANGUAGES = {"python", "text", "console"}


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_blocks(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.language == "python"]


def runnable() -> list[Any]:
    texts = {page: "".join(block.text for block in python_blocks(page)) for page in PAGES if page.name not in ELSEWHERE}
    return [pytest.param(page, marks=marks(text), id=page_name(page)) for page, text in texts.items() if text]


@pytest.mark.parametrize("page", runnable())
def test_python_blocks_print_what_they_show(
    page: Path, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in python_blocks(page):
        if needs_spark(block.text):
            namespace.setdefault("spark", request.getfixturevalue("spark"))
        printed = run_block(block, page, namespace)
        assert printed.rstrip() == (block.prints or "").rstrip(), f"{page_name(page)}, line {block.line}"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_exist(page: Path) -> None:
    for block in blocks(page):
        if block.language == "console":
            for line in block.text.splitlines():
                check_command(shlex.split(line, comments=True))


def check_command(words: list[str]) -> None:
    match words:
        case ["make", *targets]:
            assert set(targets) <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        case ["dovetail", "--version" | "--help"]:
            pass
        case ["dovetail", command, *_]:
            assert command in getattr(get_command(app), "commands", {})
        case ["pip", "install", package]:
            check_package(package)
        case _:
            raise AssertionError(f"no way to check this command: {shlex.join(words)}")


def check_package(package: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, _, extras = package.removesuffix("]").partition("[")
    assert name in {project["name"], "."}
    assert set(filter(None, extras.split(","))) <= set(project["optional-dependencies"])


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing
