"""Some hundred stories, and some planted mistakes that they find."""

from dataclasses import replace

import pytest

from dovetail.testing import oracle
from tests.simulation.cases import CASES
from tests.simulation.judge import Verdict, judge
from tests.simulation.planted import PLANTED, planted
from tests.simulation.shrink import shrink, told
from tests.simulation.story import KINDS, Fault, Story, story_of

PER_CASE, ANY = 1, 80  # seeds of the normal tests; `make simulate` tells as many as there is time for
WITHIN = 1000  # seeds, each planted mistake is found
QUICK = {  # a case that a mistake shows in soon
    "the token is a counter": "inner on one key",
    "the state is written before the last result": "inner on one key",
    "a heartbeat is dropped": "order hold",
    "an engine is kept under the token it started from": "inner on one key",
    "packers deal rows out by chance": "inner on any expression",
    "a hot key is split at once for all streams": "inner on one key",
}


def check(story: Story) -> Verdict:
    verdict = judge(story)
    assert verdict.good, f"{verdict}\n{told(shrink(story, lambda other: not judge(other).good))}"
    return verdict


@pytest.mark.parametrize("case", CASES)
def test_every_case_survives_its_stories(case: str) -> None:
    for seed in range(PER_CASE):
        check(story_of(7919 * (1 + seed), case))


def test_any_seed() -> None:
    struck: set[str] = set()
    for seed in range(ANY):
        struck |= check(story_of(seed)).struck
    assert struck == set(KINDS), "every kind of fault has struck"


def test_rows_too_far_ahead_are_refused() -> None:
    """By the oracle, to whose rows those of every story are compared."""
    story = story_of(1, "rows far ahead")
    assert sum(oracle(CASES[story.case].query().model, story.script()).ahead.values()) > 0


def test_a_budget_that_is_short_leaves_rows_out() -> None:
    assert sum(check(story_of(seed, "CPU budget")).left_out for seed in range(3)) > 0


@pytest.mark.parametrize("sink", ["manifest", "function"])
@pytest.mark.parametrize("case", ["CPU budget", "CPU budget in order"])
def test_a_budget_repeats_nothing_though_every_batch_is_repeated_after_its_sink(case: str, sink: str) -> None:
    """The sink keeps what the first try has made, and the state is that of the second, which took another time."""
    for seed in range(4):
        story = story_of(seed, case)
        deaths = [Fault("driver dies before the batch is noted as done", at, 0, 0) for at in range(len(story.batches))]
        check(replace(story, sink=sink, faults=tuple(deaths)))


def test_a_seed_is_a_story() -> None:
    one, other = story_of(5), story_of(5)
    assert one.faults == other.faults
    assert str(one.script()) == str(other.script())
    assert judge(one) == judge(other)


def first_found(name: str, seeds: range, case: str | None = None) -> Story | None:
    stories = (story_of(seed, case) for seed in seeds)
    return next((story for story in stories if not judge(story).good), None)


def test_every_mistake_can_be_planted() -> None:
    for name in PLANTED:
        with planted(name):
            pass
    assert len(PLANTED) >= 10


@pytest.mark.parametrize("name", QUICK)
def test_a_planted_mistake_is_found_soon(name: str) -> None:
    with planted(name):
        assert first_found(name, range(60), QUICK[name]) is not None


def test_a_story_that_fails_is_made_small() -> None:
    with planted("an engine stays in the cache while it works"):
        story = first_found("", range(60), "inner on one key")
        assert story is not None
        small = shrink(story, lambda other: not judge(other).good)
        assert not judge(small).good
    assert len(small.faults) <= 2
    assert len(small.batches) <= 5
    assert judge(small).good
    assert told(small).count("\n") == len(small.faults)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_every_planted_mistake_is_found(name: str) -> None:
    with planted(name):
        assert first_found(name, range(WITHIN)) is not None
