"""Every text of the corpus gives exactly what stands below it."""

from typing import Any

import pytest

from tests.language import catalogue
from tests.language.cases import ANSWERS, Case, all_cases

PARAMETERS = [
    pytest.param(folder, case, id=f"{folder}: {case.title}") for folder in ANSWERS for case in all_cases(folder)
]


@pytest.fixture(autouse=True)
def _only_function_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages list the functions there are, and other tests make some."""
    monkeypatch.setattr("dovetail.api.build.functions", {"correlated": catalogue.CORRELATED})


@pytest.mark.parametrize(("folder", "case"), PARAMETERS)
def test_case(folder: str, case: Case) -> None:
    assert list(ANSWERS[folder](case.text)) == case.lines


@pytest.mark.parametrize(("folder", "least"), [("good", 60), ("bad", 40), ("pipelines/good", 3), ("pipelines/bad", 25)])
def test_the_corpus_is_large(folder: str, least: int) -> None:
    assert len(all_cases(folder)) >= least


@pytest.mark.parametrize("folder", list(ANSWERS))
def test_titles_and_texts_are_different(folder: str) -> None:
    every: list[Any] = all_cases(folder)
    assert len({case.title for case in every}) == len({case.text for case in every}) == len(every)


@pytest.mark.parametrize("folder", ["bad", "pipelines/bad"])
def test_nothing_bad_passes(folder: str) -> None:
    assert not [case.title for case in all_cases(folder) if case.lines == ["nothing is wrong"]]


def test_one_line_or_many_is_the_same_query() -> None:
    for case in all_cases("good"):
        if "--" not in case.text:
            assert list(catalogue.summary(" ".join(case.text.split()))) == case.lines
