"""Figures that do not depend on the machine, in their short form: what we say of them stays true."""

from collections.abc import Iterable
from typing import Any

import pytest

from experiments.papers import PAPERS, figure_named, figures_of

NAMES = {
    "kang": "2 3 4 5 6 7 8 9 10 11",
    "order": "5 6 7 8 9 10",
    "mjoin": "11 12 table1 13 15 17",
    "grub": "2 4 7 8 9 10 11 12 13 14 15 table2 16 17 video flights",
    "share": "3 5 7 8 9 10 memory",
}


@pytest.mark.parametrize("paper", NAMES)
def test_every_figure_has_its_name(paper: str) -> None:
    assert list(figures_of(paper)) == [f"{paper}-{each}" for each in NAMES[paper].split()]


HOLD = (
    "grub-2",
    "grub-4",
    "order-5",
    "order-6",
    "kang-2",
    "kang-3",
    "kang-8",
    "kang-9",
    "kang-10",
    "kang-11",
    "share-3",
    "share-5",
    "share-8",
)


LONG = {"grub-17"}  # tens of seconds


def without_long(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in names]


@pytest.mark.parametrize("name", without_long(HOLD))
def test_the_claim_holds(name: str) -> None:
    figure = figure_named(name)
    assert figure is not None
    outcome = figure(True)
    assert outcome.name == name
    assert outcome.holds, {check for check, passed in outcome.checks.items() if not passed}


# What fails apart from what is measured, and why is said on the paper's page.
FAIL = {
    "kang-7": set(),
    "mjoin-11": set(),
    "mjoin-12": {"the wrong order falls behind the tree"},
    "mjoin-table1": {"the wrong order compares a fifth more, as in the paper"},
    "mjoin-13": set(),
    "mjoin-17": set(),
    "grub-7": {
        "and the best itself for z >= 0.4 (to 0.1 %)",
        "where a direction may be off, too, the delta metric gives 98 %",
    },
    "share-7": {"LWO is second on Uniform at a load of 0.9, too"},
    "share-9": {"LWO is second on Uniform at a load of 0.9, too"},
    "grub-17": {"the shorter window loses some at 35 %"},
    "share-memory": {"SWF's output buffer is below 3 %, at load 0.9"},
    "grub-8": set(),
    "grub-9": set(),
    "grub-10": set(),
}


@pytest.mark.parametrize("name", without_long(FAIL))
def test_what_does_not_depend_on_the_machine_comes_out_as_stated(name: str) -> None:
    figure = figure_named(name)
    assert figure is not None
    outcome = figure(True)
    failed = {check for check, passed in outcome.checks.items() if not passed and not check.startswith("measured")}
    assert failed == FAIL[name]


def test_the_model_crosses_at_67_and_144() -> None:
    crossings = [
        figure(True).ours["crossing, tuples/s"] for figure in map(figure_named, ("kang-2", "kang-3")) if figure
    ]
    assert crossings == pytest.approx([67.0, 144.0], abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for paper in PAPERS for name in figures_of(paper)])
def test_every_figure_runs_in_its_short_form(name: str) -> None:
    figure = figure_named(name)
    assert figure is not None
    outcome = figure(True)
    assert outcome.name == name
    assert outcome.claim
    assert outcome.ours
    assert outcome.checks
