"""Grub's figures over the number of streams: the gain (13), the interval of adaptation (15)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from experiments.grub_runs import Setting, capacity_of, dropped, gain, harvested, short
from experiments.grub_settings import CHARGED, decision_s
from experiments.outcome import Cause, Curve, Mark, Outcome, Panel

_LAGS, _DEVIATIONS = (0.0, 5.0, 15.0, 10.0, 2.0), (2.0, 2.0, 50.0, 50.0, 50.0)
_SEVENFOLD = "five lagged streams gain 700 % or more, in the median of other seeds"
_FINE_S = 0.5
_STATED = {3: 0.5, 4: 1.0, 5: 3.0}
_SLOW_S = {4: 0.05, 5: 0.2}  # what a choice takes on a slower machine
_BEST = {4: "four streams: 1 s is best", 5: "five streams: 3 s is best"}
_FRESH = (11, 12, 13, 14, 15)  # seeds that nothing was tuned with
_CHOSEN = (
    "Lags of the fourth and fifth stream (10 and 2 s) and their deviations (50) are our choice; the paper does not say."
)


def joining(base: Setting, streams: int, lagged: bool = True) -> Setting:
    """So many of the five streams."""
    return replace(base, lags=_LAGS[:streams] if lagged else (0.0,) * streams, deviations=_DEVIATIONS[:streams])


def figure_13(quick: bool) -> Outcome:
    """Three, four and five streams at 100 tuples/s, which the server can just do for three."""
    streams = (3, 4, 5)
    runs = {name: [_joined(quick, each, name == "lagged") for each in streams] for name in ("aligned", "lagged")}
    gains = {name: [each.gain for each in some] for name, some in runs.items()}
    fresh = [_joined(quick, 5, True, seed).gain for seed in (_FRESH[:1] if quick else _FRESH)]
    median = float(np.median(fresh))
    return Outcome(
        "grub-13",
        "Gain over the number of streams",
        "The more streams, the more harvesting gains over RandomDrop; lagged streams gain more, five of them up to "
        "700 %.",
        paper={"gain, lagged, 5 streams": 7.0},
        ours={
            f"gain, {name}, {m} streams": one
            for name, each in gains.items()
            for m, one in zip(streams, each, strict=True)
        }
        | {
            f"share of all results, {name}, {_counts(streams)} streams": _row(r.share for r in runs[name])
            for name in runs
        }
        | {
            f"comparisons per result, {name}, {m} streams, harvest and RandomDrop": f"{one.each:.0f} {one.dropped:.0f}"
            for name, some in runs.items()
            for m, one in zip(streams, some, strict=True)
        }
        | {"gains of five lagged streams, other seeds": _row(fresh), "their median": median},
        checks={
            **{f"every stream more gains more, {name}": _rises(each) for name, each in gains.items()},
            "lagged streams gain more than aligned ones": gains["lagged"][-1] > gains["aligned"][-1],
            _SEVENFOLD: median >= 7.0,
        },
        panels=(
            Panel(
                "streams",
                "gain over RandomDrop",
                tuple(Curve(name, streams, each) for name, each in gains.items()),
                (Mark("700 %", 5, 7.0),),
            ),
        ),
        differences=(
            _CHOSEN,
            "Three streams gain nothing: our server can just do their full join.",
            "Of four streams harvesting gives most of the results (by its own estimate), and the gain is what "
            "RandomDrop loses. Of five even the best slices take more than there is: aligned streams give "
            f"{runs['aligned'][-1].share:.0%} of all results, lagged ones {runs['lagged'][-1].share:.0%}. There the "
            f"gain is that a result takes fewer comparisons, {runs['aligned'][-1].each:.0f} and "
            f"{runs['lagged'][-1].each:.0f}, than by RandomDrop, {runs['aligned'][-1].dropped:.0f} and "
            f"{runs['lagged'][-1].dropped:.0f}.",
        ),
        causes=(_coarse_slices(quick, median),),
    )


def _coarse_slices(quick: bool, gained: float) -> Cause:
    """The same with short slices."""
    gains = [_joined(quick, 5, True, seed, _FINE_S).gain for seed in (_FRESH[:1] if quick else _FRESH)]
    finer = float(np.median(gains))
    return Cause(
        "Slices of 2 s, the paper's default, are coarse beside the first two streams' correlation, a tenth of a "
        "second: of the 200 tuples that are looked through for a match most cannot be one, and that is most of what "
        f"a result costs. With slices of {_FINE_S:g} s and nothing else changed five lagged streams gain "
        f"{finer:.0%} instead of {gained:.0%}, in the median of the same seeds.",
        finer >= 7.0,
        (_SEVENFOLD,),
    )


@dataclass(frozen=True)
class _Joined:
    """Gain over RandomDrop, share of all results that harvesting gives, comparisons that a result takes in either."""

    gain: float
    share: float
    each: float
    dropped: float


def _joined(quick: bool, streams: int, lagged: bool, seed: int = 0, slice_s: float = 2.0) -> _Joined:
    base = replace(short(quick).at(100.0), seed=seed, slice_s=slice_s)
    setting, capacity = joining(base, streams, lagged), capacity_of(joining(base, 3, lagged))
    ours, theirs = harvested(setting, capacity), dropped(setting)
    each, each_dropped = (run.compared / run.results for run in (ours, theirs))
    return _Joined(gain(setting, capacity)[2], ours.completeness, each, each_dropped)


def _row(numbers: Iterable[float]) -> str:
    return " ".join(f"{one:.2f}" for one in numbers)


def _counts(streams: Sequence[int]) -> str:
    return ", ".join(str(each) for each in streams)


def _rises(gains: list[float]) -> bool:
    return all(more > less for less, more in pairwise(gains))


def figure_15(quick: bool) -> Outcome:
    """Rates of 100, 150 and 50 tuples/s, 8 s each; intervals from half a second to 8 s; 3 to 5 streams."""
    intervals = (0.5, 1.0, 3.0, 8.0)
    streams = (3, 4, 5)
    found = {m: [_adapted(quick, m, interval) for interval in intervals] for m in streams}
    saving = [_adapted(quick, 3, interval, saves=True) for interval in intervals]
    best = {m: intervals[int(np.argmax(each))] for m, each in found.items()}
    return Outcome(
        "grub-15",
        "Results over the interval of adaptation, with rates that change",
        "The best interval is the shortest (0.5 s) for three streams, 1 s for four and 3 s for five: choosing takes "
        "longer the more streams there are.",
        paper={f"best interval, {m} streams, s": _STATED[m] for m in streams},
        ours={
            **{f"best interval, {m} streams, s": each for m, each in best.items()},
            **{f"choosing takes here, {m} streams, ms": 1000 * decision_s(m, 10) for m in streams},
            "shortest over longest interval, 3 streams": found[3][0] / found[3][-1],
            "the same where time can be saved and tuples can wait": saving[0] / saving[-1],
        },
        checks={
            "three streams: the shortest interval is best": best[3] == intervals[0],
            "five streams: a longer one is": best[5] > intervals[0],
            **{check: best[m] == _STATED[m] for m, check in _BEST.items()},
        },
        panels=(
            Panel(
                "interval, s",
                "results per second",
                (
                    *(Curve(f"{m} streams", intervals, found[m]) for m in streams),
                    Curve("3 streams, saving", intervals, saving),
                ),
                tuple(
                    Mark(f"best of {m}", _STATED[m], float(np.interp(_STATED[m], intervals, found[m]))) for m in streams
                ),
            ),
        ),
        differences=(
            CHARGED.format(f"{1000 * decision_s(streams[-1], 10):.0f}"),
            "As in the paper, buffers hold 10 tuples, and time without work is lost. Our budget lets a join save up an "
            "interval's time, and wait with an interval's tuples: then the interval hardly matters, because what comes "
            "while rates are high is joined while they are low.",
            _CHOSEN,
        ),
        causes=tuple(_dear_choices(quick, m, intervals) for m in _BEST),
    )


def _dear_choices(quick: bool, streams: int, intervals: Sequence[float]) -> Cause:
    """The same where choosing takes longer."""
    slow = _SLOW_S[streams]
    found = [_adapted(quick, streams, interval, decision=slow) for interval in intervals]
    best = intervals[int(np.argmax(found))]
    return Cause(
        f"Choosing takes {1000 * decision_s(streams, 10):.0f} ms here for {streams} streams, too little to matter "
        f"beside what is lost while rates have changed and the throttle has not. With {slow:g} s charged for each, "
        f"they give most with an interval of {best:g} s.",
        best == _STATED[streams],
        (_BEST[streams],),
    )


def _adapted(quick: bool, streams: int, interval: float, saves: bool = False, decision: float | None = None) -> float:
    base = replace(short(quick), seconds=68.0, rates=(100.0, 150.0, 50.0), period_s=8.0)
    base = base if saves else replace(base, saves=False, buffer=10, step_s=0.05)
    setting = replace(joining(base, streams), interval_s=interval, decision_s=decision or decision_s(streams, 10))
    return harvested(setting, capacity_of(setting)).results
