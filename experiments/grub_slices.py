"""Grub's figure about the length of slices (14): by comparisons, and charged with the CPU time that they take here.

The simulated clock counts comparisons, and to look through two short slices takes as many as through one long one. What
short slices cost is the work around the comparisons, because each slice is scanned apart. So every setting is run once
to see how much CPU time a comparison takes in it here, all in all, and once more charged with that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from experiments.grub_runs import AS_THEIRS, ORDERS, Fixed, Setting, capacity_of, harvested, short
from experiments.grub_settings import CHARGED, decision_s
from experiments.outcome import Cause, Curve, Outcome, Panel
from experiments.turns import quickest

_PLANNED, _CPU, _BOTH = "as planned", "charged with CPU time", "S2 spread like S3"
_DEVIATIONS = (25.0, 75.0)
_MIDDLE = (0.0, 2.5, 12.5)  # lags in the middle of slices of 5 s

Found = Mapping[str, Mapping[float, Sequence[float]]]


@dataclass(frozen=True)
class _Sweep:
    """Results per second by way, deviation and length."""

    lengths: tuple[float, ...]
    found: Found

    def at(self, way: str, deviation: float, length: float) -> float:
        return self.found[way][deviation][self.lengths.index(length)]

    def best(self, way: str) -> dict[float, float]:
        return {kappa: self.lengths[int(np.argmax(each))] for kappa, each in self.found[way].items()}

    def spread(self, way: str) -> dict[float, float]:
        return {kappa: max(each) / max(min(each), 1e-9) for kappa, each in self.found[way].items()}


def figure_14(quick: bool) -> Outcome:
    """Slices of half a second to five seconds; deviations of 25 and 75; lagged streams, 200 tuples/s."""
    lengths = (1.0, 2.0, 5.0) if quick else (0.5, 1.0, 2.0, 5.0)
    base = short(quick).at(200.0)
    turns = 1 if quick else 3
    dearer = {kappa: _dearer([_sliced(base, kappa, length) for length in lengths], turns) for kappa in _DEVIATIONS}
    ways: dict[str, Fixed] = {_PLANNED: None, AS_THEIRS: ORDERS[AS_THEIRS]}
    found = {
        way: {kappa: [_results(_sliced(base, kappa, b, orders)) for b in lengths] for kappa in _DEVIATIONS}
        for way, orders in ways.items()
    }
    found[_CPU] = {
        kappa: [_results(replace(_sliced(base, kappa, b), dearer=d)) for b, d in zip(lengths, each, strict=True)]
        for kappa, each in dearer.items()
    }
    found[_BOTH] = {
        kappa: [_results(replace(_sliced(base, kappa, b), deviations=(2.0, kappa, kappa))) for b in lengths]
        for kappa in _DEVIATIONS
    }
    sweep = _Sweep(lengths, found)
    return Outcome(
        "grub-14",
        "Results over the length of slices",
        "Shorter slices give more results down to some length and fewer below it; that length is larger, and the "
        "length matters less, the weaker the correlation.",
        paper={},
        ours=_numbers(sweep, dearer, base),
        checks=_checks(sweep),
        panels=tuple(_panel(sweep, way) for way in found),
        differences=_differences(sweep, *_coarse(sweep, base)[:2]),
        causes=(_their_order(sweep),),
    )


def _their_order(sweep: _Sweep) -> Cause:
    """What the lengths give where the planner does not choose the order."""
    best, spread = sweep.best(AS_THEIRS), sweep.spread(AS_THEIRS)
    return Cause(
        "Our join chooses the probe order that promises most, and so seldom looks through the stream whose spread "
        f"changes. If S1 looks {AS_THEIRS}, whatever that promises, slices of {best[25.0]:g} s are best at a deviation "
        f"of 25 and of {best[75.0]:g} s at 75, and the best length gives {spread[25.0]:.2f} and {spread[75.0]:.2f} "
        "times what the worst does: as the paper has it.",
        _grows(best) and spread[75.0] < spread[25.0],
        ("the best length is larger at 75 than at 25",),
    )


def _sliced(base: Setting, deviation: float, length: float, orders: Fixed = None) -> Setting:
    setting = replace(base, deviations=(2.0, 2.0, deviation), slice_s=length, orders=orders)
    return replace(setting, decision_s=decision_s(3, round(20 / length)))


def _results(setting: Setting, times: float = 1.0) -> float:
    return harvested(setting, times * capacity_of(setting)).results


def _dearer(settings: Sequence[Setting], turns: int) -> list[float]:
    """How many times the CPU time of a comparison with the longest slices one takes with each; they take turns."""
    took = {at: partial(_cpu_per_comparison, each, capacity_of(each)) for at, each in enumerate(settings)}
    least = list(quickest(took, turns).values())
    return [one / least[-1] for one in least]


def _cpu_per_comparison(setting: Setting, capacity: float, turn: int) -> float:
    run = harvested.__wrapped__(setting, capacity) if turn else harvested(setting, capacity)
    return run.cpu_s / run.compared


def _numbers(sweep: _Sweep, dearer: Mapping[float, Sequence[float]], base: Setting) -> dict[str, object]:
    coarse, middle, doubled = _coarse(sweep, base)
    return {
        "lengths of slices, s": _row(sweep.lengths, "g"),
        **{
            f"best length at a deviation of {kappa:.0f}, {way}, s": length
            for way in sweep.found
            for kappa, length in sweep.best(way).items()
        },
        **{
            f"best over worst length at {kappa:.0f}, {way}": ratio
            for way in sweep.found
            for kappa, ratio in sweep.spread(way).items()
        },
        **{
            f"CPU time per comparison at {kappa:.0f}, over that with slices of 5 s": _row(each, ".1f")
            for kappa, each in dearer.items()
        },
        "slices of 5 s over slices of 2 s, deviation 25": coarse,
        "the same with lags in the middle of slices": middle,
        "the same if only slices of 5 s have twice the CPU": doubled,
    }


def _checks(sweep: _Sweep) -> dict[str, bool]:
    planned, charged, theirs, both = (sweep.spread(way) for way in (_PLANNED, _CPU, AS_THEIRS, _BOTH))
    return {
        "slices of 2 s give more than slices of 5 s at a deviation of 25": sweep.at(_PLANNED, 25.0, 2.0)
        > sweep.at(_PLANNED, 25.0, 5.0),
        "the shortest slices are not the best": _not_shortest(sweep, _PLANNED),
        f"measured, {_CPU} they are not": _not_shortest(sweep, _CPU),
        "the best length is larger at 75 than at 25": _grows(sweep.best(_PLANNED)),
        f"measured, {_CPU} it is": _grows(sweep.best(_CPU)),
        "the length matters less at 75 than at 25": planned[75.0] < planned[25.0],
        f"measured, {_CPU} it does": charged[75.0] < charged[25.0],
        f"it does so if S1 looks {AS_THEIRS}": theirs[75.0] < theirs[25.0],
        f"it does so with {_BOTH}": both[75.0] < both[25.0],
    }


def _not_shortest(sweep: _Sweep, way: str) -> bool:
    return all(length > sweep.lengths[0] for length in sweep.best(way).values())


def _grows(best: Mapping[float, float]) -> bool:
    return best[75.0] > best[25.0]


def _panel(sweep: _Sweep, way: str) -> Panel:
    curves = tuple(Curve(f"deviation {kappa:.0f}", sweep.lengths, each) for kappa, each in sweep.found[way].items())
    return Panel(f"length of a slice, s ({way})", "results per second", curves)


def _coarse(sweep: _Sweep, base: Setting) -> tuple[float, float, float]:
    """Results with slices of 5 s over those with 2 s: as they are, with lags in their middle, with twice the CPU."""
    wide, two = _sliced(base, 25.0, 5.0), sweep.at(_PLANNED, 25.0, 2.0)
    far = replace(wide, lags=_MIDDLE)
    return (
        sweep.at(_PLANNED, 25.0, 5.0) / two,
        _results(far) / _results(replace(far, slice_s=2.0)),
        _results(wide, 2.0) / two,
    )


def _differences(sweep: _Sweep, coarse: float, middle: float) -> tuple[str, ...]:
    charged, both = sweep.best(_CPU), sweep.spread(_BOTH)
    return (
        CHARGED.format(f"{1000 * decision_s(3, 40):.0f}") + " Here that is next to nothing of an interval of 5 s.",
        "The simulated clock counts comparisons, of which many short slices cost no more than few long ones: by that "
        "clock nothing makes the shortest slices worse. On this machine they take CPU time around the comparisons, as "
        "stated above, because each slice is scanned apart. Charged with that time, "
        f"slices of {charged[25.0]:g} s are best at a deviation of 25 and of {charged[75.0]:g} s at 75.",
        f"Slices of 5 s give {coarse:.2f} of what slices of 2 s give at a deviation of 25. The lags of 5 and 15 s lie "
        f"on their border, and two must be looked through; with lags in the middle of slices they give {middle:.2f}, "
        f"so that is the {'larger' if 2 * middle > 1 + coarse else 'smaller'} part of what they lose.",
        "In the order that our join takes (see grub-12) most comparisons are made in S2, whose correlation is the same "
        f"at every deviation of S3. With S2 spread like S3 the best length gives {both[25.0]:.1f} times as much as the "
        f"worst at a deviation of 25, and {both[75.0]:.1f} times at 75: there the length hardly matters, as the paper "
        "says.",
    )


def _row(numbers: Sequence[float], form: str) -> str:
    return " ".join(f"{one:{form}}" for one in numbers)
