"""Any combination of features, drawn from the table: what it says runs gives the oracle's rows, the rest is refused."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from dovetail.model.combinations import AXES, REFUSALS, SHEDS, refusal
from scripts.combinations import PAGE, page
from scripts.trial import attempt, built, drawn, script_of, whole

# Half of the axes stay at their first word, or nearly every combination would be one that is refused.
cells = st.fixed_dictionaries({axis: st.just(words[0]) | st.sampled_from(words) for axis, words in AXES.items()})
embedded = cells.map(lambda cell: whole(cell | {"runtime": "embedded"}))


@pytest.mark.filterwarnings("ignore::dovetail.errors.LateRowsWarning")
@settings(max_examples=80)
@given(embedded.filter(lambda cell: refusal(cell) is None), st.integers(0, 1000))
@example(whole({"runs": "tree", "budget": "memory spill"}), 1)  # results from disk were late for the operator above
def test_what_goes_together_gives_what_the_oracle_gives(cell: dict[str, str], seed: int) -> None:
    event(f"{cell['runs']}, {cell['budget']}")
    assert attempt(cell, seed) == "run"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dovetail.errors.LateRowsWarning")
def test_bands_hold_the_truth() -> None:
    held = list(chain.from_iterable(bands(seed) for seed in range(200)))
    assert len(held) >= 200
    assert np.mean(held) >= 0.9, np.flatnonzero(~np.array(held))


def bands(seed: int) -> list[bool]:
    """Of each query of a random combination that leaves results out, whether its band holds the truth.

    Not of row windows: what a memory budget takes from them is thought to cost more results than it does.
    """
    fixed = {"runtime": ("embedded",), "budget": SHEDS, "late": ("drop", "divert"), "windows": ("time", "unbounded")}
    cell = drawn(np.random.default_rng(seed), fixed)
    return [shown.held for shown in built(cell, script_of(cell, seed, batches=12))()]


@settings(max_examples=60)
@given(embedded.filter(lambda cell: refusal(cell) is not None))
def test_what_does_not_go_together_is_refused_with_the_reason(cell: dict[str, str]) -> None:
    assert attempt(cell) == "refused"


def test_every_refusal_is_met_by_some_combination_and_names_its_axes() -> None:
    for each in REFUSALS:
        cell = whole({axis: words[0] for axis, words in each.when.items()})
        assert each.meets(cell)
        assert all(set(words) <= set(AXES[axis]) for axis, words in each.when.items())


def test_the_page_is_that_of_the_table() -> None:
    assert PAGE.read_text() == page(), "the page is older than the table: python -m scripts.combinations --page"
