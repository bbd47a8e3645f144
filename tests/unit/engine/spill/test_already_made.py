"""The test of what was made before, on cases small enough to think through."""

import numpy as np

from dovetail.engine.policies.spill.already_made import all_made, owed, possible
from dovetail.engine.policies.spill.part import Part, Span, epochs_of, runs_of


def span(first: int, last: int, departed: int = 1 << 62, **more: object) -> Span:
    return Span(0, 10, first, last, departed, **more)  # type: ignore[arg-type]


def is_owed(arrived: dict[str, int], spans: dict[str, Span], passed: int = -1) -> bool:
    epochs = {name: np.array([epoch]) for name, epoch in arrived.items()}
    return bool(owed(epochs, {name: np.array([each.departed]) for name, each in spans.items()}, spans, passed)[0])


def test_members_that_were_in_memory_together_are_made() -> None:
    assert not is_owed({"A": 1, "B": 3}, {"A": span(1, 1, departed=4), "B": span(3, 3)})
    assert is_owed({"A": 1, "B": 4}, {"A": span(1, 1, departed=4), "B": span(4, 4)})


def test_pairs_that_met_do_not_make_a_combination() -> None:
    # d5-9, d3-7, d17 of MJoin's section 2.7: S1 and S2 met, and a pause at 17 joined S2's part with memory
    spans = {"S1": span(5, 5, departed=9), "S2": span(3, 3, departed=7, probes=(17,)), "S3": span(17, 17)}
    assert is_owed({"S1": 5, "S2": 3, "S3": 17}, spans)
    spans["S1"] = span(10, 10)
    assert not is_owed({"S1": 10, "S2": 3, "S3": 17}, spans)


def test_every_probe_counts_and_not_only_the_last() -> None:
    spans = {"A": span(1, 1, departed=2, probes=(4, 9)), "B": span(3, 3, departed=6)}
    assert not is_owed({"A": 1, "B": 3}, spans)
    spans["B"] = span(5, 5, departed=6)
    assert is_owed({"A": 1, "B": 5}, spans)


def test_a_pass_settles_all_that_had_arrived() -> None:
    spans = {"A": span(1, 1, departed=2), "B": span(3, 5)}
    assert not is_owed({"A": 1, "B": 3}, spans, passed=4)
    assert is_owed({"A": 1, "B": 5}, spans, passed=4)
    assert all_made(spans, passed=5)
    assert not all_made(spans, passed=4)


def test_parts_that_are_too_far_apart_or_of_other_keys_are_not_read() -> None:
    early, late = Span(0, 10, 0, 0), Span(16, 20, 0, 0)
    assert not possible({"A": early, "B": late}, {"A": 5, "B": 5})
    assert possible({"A": early, "B": late}, {"A": 6, "B": 0})
    other = Span(0, 10, 0, 0, partition=3)
    assert not possible({"A": other, "B": Span(0, 10, 0, 0, partition=4)}, {"A": 5, "B": 5})
    assert possible({"A": other, "B": early}, {"A": 5, "B": 5})


def test_a_part_survives_its_json() -> None:
    part = Part(3, "A", 5, 80, ((2, 1), (3, 4)), Span(1, 9, 1, 4, 6, 2, (7, 8)), ((4, 6), (1, 9)))
    assert Part.from_json(part.to_json()) == part
    assert runs_of(epochs_of(part.runs)) == part.runs
