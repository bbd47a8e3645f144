"""The frame around the experiments: names, the report, the page; with a figure made up for the purpose."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.__main__ import main
from experiments.outcome import Curve, Mark, Outcome, Panel
from experiments.page import write_page, write_picture
from experiments.papers import PAPERS, figures_of
from experiments.report import as_json, as_text, shown


def outcome(holds: bool = True) -> Outcome:
    return Outcome(
        "order-0",
        "Made up",
        "it is two.",
        paper={"number": 2, "unstated": None},
        ours={"number": 2.00001, "more": 12345},
        checks={"it is two": holds},
        panels=(
            Panel("x", "y", (Curve("ours", [1, 2], [3, 4]),), (Mark("paper", 1, 3),), log_x=True),
            Panel("x", "y", (Curve("a", [], [1]), Curve("b", [], [2])), bars=True),
        ),
        differences=("Nothing differs.",),
    )


def test_an_outcome_holds_if_all_its_checks_do() -> None:
    assert outcome().holds
    assert not outcome(holds=False).holds


def test_the_text_has_claim_numbers_and_verdict() -> None:
    text = as_text(outcome(holds=False))
    assert "claim: it is two." in text
    assert "number: paper 2, ours 2" in text
    assert "more: paper -, ours 12,345" in text
    assert "NO  it is two" in text
    assert text.endswith("does not hold")


def test_the_json_is_one_line_with_the_curves() -> None:
    line = as_json(outcome())
    assert "\n" not in line
    content = json.loads(line)
    assert {"name", "claim", "paper", "ours", "holds"} <= content.keys()
    assert content["curves"][0] == {"x_axis": "x", "y_axis": "y", "label": "ours", "x": [1, 2], "y": [3, 4]}


@pytest.mark.parametrize(("value", "text"), [(0.33221, "0.332"), (12345.6, "12,346"), (None, "-"), ("> 60", "> 60")])
def test_numbers_are_shown_short(value: object, text: str) -> None:
    assert shown(value) == text


def test_the_page_says_what_fails_and_shows_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_picture(outcome(), tmp_path)
    page = write_page("order", "# Title", [outcome(holds=False)], tmp_path, short=["order-0"])
    text = page.read_text()
    assert text.startswith("# Title")
    assert "short run" in text
    assert "**fails**: it is two" in text
    assert "Nothing differs." in text
    assert (tmp_path / "order" / "order-0.svg").read_text().count("<svg") == 1


def test_the_page_says_which_figures_are_from_short_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    some = [outcome(), replace(outcome(), name="order-1")]
    assert "short" not in write_page("order", "", some, tmp_path).read_text()
    assert "full ones: order-1." in write_page("order", "", some, tmp_path, short=["order-1"]).read_text()


def test_the_same_numbers_give_the_same_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pictures = [tmp_path / name / "order" / "order-0.svg" for name in "ab"]
    for name in "ab":
        write_picture(outcome(), tmp_path / name)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_figures_are_named_for_their_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out.split()
    for paper in PAPERS:
        assert {paper, *figures_of(paper)} <= set(listed)
        assert all(name.startswith(f"{paper}-") for name in figures_of(paper))


def test_the_last_line_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["order-5", "--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "holds"
    assert json.loads(lines[-1])["holds"] is True
    assert main(["order-5", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["order-99"]) == 2
    assert "no experiment 'order-99'" in capsys.readouterr().err
