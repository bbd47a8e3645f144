"""What slices yield at most: unknown ones count as expected, poor ones by evidence, and changes are noticed."""

from collections.abc import Sequence

import numpy as np

from dovetail.control.slice_yields import SliceYields

PAIR = ("A", "B")
TUPLES = np.full(5, 10.0)


def taught(*intervals: tuple[Sequence[float], Sequence[float]], together: float = 1.0) -> SliceYields:
    yields = SliceYields()
    for results, looked in intervals:
        yields.learn(PAIR, np.array(results), np.array(looked), together)
    return yields


def test_what_was_never_looked_at_counts_more_than_what_was_in_vain() -> None:
    density = taught(([8, 0, 0, 0, 0], [100, 100, 100, 0, 0])).density(PAIR, np.ones(5), TUPLES)
    assert density[0] > density[3] == density[4] > density[1] == density[2]


def test_a_slice_is_poor_by_evidence_and_not_by_chance() -> None:
    little, much = (
        taught(([times, 0, 0, 0, 0], [20.0 * times] * 5)).density(PAIR, np.ones(5), TUPLES) for times in (1, 50)
    )
    assert little[1] / little[0] > 0.2
    assert much[1] / much[0] < 0.02


def test_results_of_one_arrival_tell_as_much_as_one() -> None:
    many, one = (taught(([16, 0, 0, 0, 0], [40.0] * 5), together=t) for t in (1.0, 16.0))
    apart, alike = (each.density(PAIR, np.ones(5), TUPLES) for each in (many, one))
    assert apart[0] / apart[1] > 3 * alike[0] / alike[1]


def test_rare_results_are_kept_in_mind_and_many_make_room_for_new_ones() -> None:
    rare = taught(([3, 0, 0, 0, 0], [50.0] * 5), *(([0] * 5, [0.0] * 5) for _ in range(20)))
    assert rare.results[PAIR][0] == 3
    moved = taught(([900, 0, 0, 0, 0], [50.0] * 5), *(([0, 900, 0, 0, 0], [50.0] * 5) for _ in range(6)))
    density = moved.density(PAIR, np.ones(5), TUPLES)
    assert density[1] > 10 * density[0]


def test_it_goes_on_from_plain_values() -> None:
    yields, again = taught(([8, 0, 0, 0, 0], [100, 100, 100, 0, 0])), SliceYields()
    again.restore(yields.to_json())
    assert np.array_equal(again.density(PAIR, np.ones(5), TUPLES), yields.density(PAIR, np.ones(5), TUPLES))
