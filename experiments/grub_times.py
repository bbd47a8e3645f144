"""Grub's figures about how quickly harvest fractions are chosen: over slices (8), over the throttle (9, 10)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import process_time

import numpy as np

from dovetail.control.harvest_model import Direction, Setting
from dovetail.control.solve_greedy import goes_forwards
from dovetail.control.solve_harvest import solve_harvest
from dovetail.model.harvest import Solver
from experiments.grub_solvers import random_directions
from experiments.outcome import Curve, Mark, Outcome, Panel

_SLOWER: tuple[tuple[int, Solver], ...] = ((5, "double-sided"), (3, "exhaustive"))


def figure_8(quick: bool) -> Outcome:
    """A throttle of 0.25, five to twenty slices per window."""
    slices = (5, 10, 20) if quick else (5, 8, 10, 12, 15, 20)
    took = milliseconds([_Case(m, n, 0.25) for n in slices for m in (3, 4, 5)], quick)
    greedy = {m: [took[_Case(m, n, 0.25)] for n in slices] for m in (3, 4, 5)}
    used, pruned = (list(milliseconds([_Case(m, n, 0.25, way) for n in slices], quick).values()) for m, way in _SLOWER)
    exhaustive = [_enumerating_ms(n) for n in slices]
    over = [one / other for one, other in zip(exhaustive, greedy[3], strict=True)]
    ten = slices.index(10)
    return Outcome(
        "grub-8",
        "Time to choose, over the number of slices",
        "Trying everything takes several orders of magnitude longer than greedy; with up to 20 slices and 5 streams "
        "greedy takes 10 ms at most.",
        paper={
            "everything, 3 streams, 10 slices, ms": 3000,
            "everything, 3 streams, 20 slices, ms": 30_000,
            "greedy, 5 streams, 20 slices, ms": 10,
        },
        ours={
            "everything, 3 streams, 10 slices, ms": exhaustive[ten],
            "everything, 3 streams, 20 slices, ms": exhaustive[-1],
            "greedy, 5 streams, 20 slices, ms": greedy[5][-1],
            "double-sided, 5 streams, 20 slices, ms": used[-1],
            "everything over greedy, 3 streams, 10 and 20 slices": f"{over[ten]:,.0f} {over[-1]:,.0f}",
            "our own exhaustive solver, 3 streams, 20 slices, ms": pruned[-1],
            "the same over greedy": pruned[-1] / greedy[3][-1],
        },
        checks={
            "measured, 5 streams and 20 slices take 10 ms at most": max(greedy[5][-1], used[-1]) <= 10,
            "measured, more streams take longer": greedy[3][-1] < greedy[4][-1] < greedy[5][-1],
            "measured, everything takes a thousand times as long, 20 slices": over[-1] > 1000,
            "measured, and so much the longer the more slices": over == sorted(over),
            "measured, even without what cannot be best it takes ten times as long": pruned[-1] > 10 * greedy[3][-1],
        },
        panels=(
            Panel(
                "slices per window",
                "ms",
                (
                    *(Curve(f"greedy, {m} streams", slices, times) for m, times in greedy.items()),
                    Curve("double-sided, 5 streams", slices, used),
                    Curve("everything, 3 streams", slices, exhaustive),
                    Curve("our exhaustive solver, 3 streams", slices, pruned),
                ),
                (
                    Mark("paper, everything", 10, 3000),
                    Mark("paper, everything", 20, 30_000),
                    Mark("paper, greedy 5", 20, 10),
                ),
                log_y=True,
            ),
        ),
        differences=(
            "Everything is what the paper tries: n ** 6 settings of three streams with n slices, one by one, here in "
            f"NumPy ({slices[-1] ** 6:,} of them). Our own exhaustive solver leaves out settings of a direction that "
            "another beats in both cost and output before it combines directions, and so takes "
            f"{pruned[-1]:.1f} ms, {pruned[-1] / greedy[3][-1]:.0f} times as long as greedy.",
        ),
    )


def _enumerating_ms(slices: int) -> float:
    """CPU time to try every setting of three directions, none left out beforehand."""
    began = process_time()
    directions, best = _joins(3, slices, 1)[0], 0.0
    budget = 0.25 * sum(each.value(each.full)[1] for each in directions)
    one, other, last = (
        np.array([each.value(counts) for counts in product(range(1, slices + 1), repeat=2)]) for each in directions
    )
    both = (other[:, None, :] + last[None, :, :]).reshape(-1, 2)
    for output, cost in one:
        best = max(best, output + float(both[both[:, 1] <= budget - cost, 0].max(initial=0.0)))
    return 1000 * (process_time() - began)


def figure_9(quick: bool) -> Outcome:
    """Ten slices; 3, 4 and 5 streams."""
    throttles = _over_z(quick)
    took = milliseconds([_Case(m, 10, z) for m in (3, 4, 5) for z in (*throttles, 0.0)], quick)
    times = {m: [took[_Case(m, 10, z)] for z in throttles] for m in (3, 4, 5)}
    few, many = (_chosen(5, 10, z) for z in (0.1, 0.9))
    handed = took[_Case(5, 10, 0.0)]
    return Outcome(
        "grub-9",
        "Time of the greedy solver, over the throttle",
        "Greedy takes longer the larger z is, because it makes more steps, and the longer the more streams there are.",
        paper={},
        ours={
            **{f"{m} streams, at z = 0.1 and 0.9, ms": f"{each[0]:.3g} {each[-1]:.3g}" for m, each in times.items()},
            "slices chosen, 5 streams, at z = 0.1 and 0.9": f"{few:.0f} {many:.0f}",
            "of the time, 5 streams, handing the model over, ms": handed,
        },
        checks={
            "more slices are chosen the larger z is": few < many,
            "measured, five streams take longer at z = 0.9 than at 0.1": times[5][-1] > 1.2 * times[5][0],
            "measured, more streams take longer at z = 0.9": times[3][-1] < times[4][-1] < times[5][-1],
        },
        panels=(_times("throttle z", throttles, {f"{m} streams": each for m, each in times.items()}),),
        differences=(
            "Our steps are compiled: most of the time goes into handing the model over, which takes as long for every "
            "throttle (at z = 0 there is nothing else to do), so times grow less than the steps do.",
        ),
    )


def figure_10(quick: bool) -> Outcome:
    """Five streams, ten slices; greedy, reverse, and double-sided as the paper has it: whichever is nearer."""
    throttles = _over_z(quick)
    cases = [_Case(5, 10, z, way) for way in ("greedy", "reverse", "double-sided") for z in throttles]
    took = milliseconds([*cases, *(_nearer(z) for z in throttles)], quick)
    times = {
        "greedy": [took[_Case(5, 10, z)] for z in throttles],
        "greedy reverse": [took[_Case(5, 10, z, "reverse")] for z in throttles],
        "double-sided": [took[_nearer(z)] for z in throttles],
        "double-sided with last steps": [took[_Case(5, 10, z, "double-sided")] for z in throttles],
    }
    quicker = [min(both) for both in zip(times["greedy"], times["greedy reverse"], strict=True)]
    whole = times["double-sided with last steps"]
    return Outcome(
        "grub-10",
        "Time of three greedy solvers, over the throttle",
        "Greedy is quick for small z, reverse for large; double-sided is as quick as the quicker of the two.",
        paper={"double-sided turns, three streams, at z": 0.5},
        ours={
            "double-sided turns, three streams, at z": 0.5 ** ((3 - 1) / 2),
            **{f"{name}, at z = 0.1 and 0.9, ms": f"{each[0]:.3g} {each[-1]:.3g}" for name, each in times.items()},
        },
        checks={
            "measured, greedy is quicker than reverse at z = 0.1": times["greedy"][0] < times["greedy reverse"][0],
            "measured, reverse is quicker than greedy at z = 0.9": times["greedy reverse"][-1] < times["greedy"][-1],
            "measured, double-sided is within a fifth of the quicker one, at both ends": all(
                times["double-sided"][at] < 1.2 * quicker[at] for at in (0, -1)
            ),
            "measured, with its last steps it takes 10 ms at most": max(whole) <= 10,
        },
        panels=(_times("throttle z", throttles, times),),
        differences=(
            "Ours are five streams, where the times can be told apart; the paper's are three.",
            "What a join uses does what double-sided does, and then tries other beginnings and exchanges slices, "
            "without which it would give less than 98 % of the best (see grub-7). That takes "
            f"{whole[0] - times['double-sided'][0]:.2g} ms of its {whole[0]:.2g} ms at z = 0.1, and "
            f"{whole[-1] - times['double-sided'][-1]:.2g} ms of {whole[-1]:.2g} ms at 0.9.",
            "Most of what greedy and reverse take is handing the model over (see grub-9), which both do.",
        ),
    )


def _over_z(quick: bool) -> tuple[float, ...]:
    return (0.1, 0.5, 0.9) if quick else (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def _times(x: str, at: Sequence[float], times: dict[str, list[float]]) -> Panel:
    return Panel(x, "ms", tuple(Curve(name, at, each) for name, each in times.items()), log_y=True)


@dataclass(frozen=True)
class _Case:
    """Random joins of so many streams with so many slices per window, a throttle and a way to choose."""

    streams: int
    slices: int
    z: float
    solver: Solver = "greedy"
    named: str = ""


def _nearer(z: float) -> _Case:
    """The paper's double-sided solver: forwards or backwards, and nothing else; a case of its own, timed apart."""
    return _Case(5, 10, z, "greedy" if goes_forwards(5, z) else "reverse", "double-sided")


def milliseconds(cases: Sequence[_Case], quick: bool) -> dict[_Case, float]:
    """CPU time, mean over some random joins; cases take turns, and the quickest turn counts."""
    joins = {case: _joins(case.streams, case.slices, 3 if quick else 10) for case in cases}
    best = {case: np.full(len(each), np.inf) for case, each in joins.items()}
    for _ in range(7 if quick else 25):
        for case, each in joins.items():
            took = [_timed(partial(solve_harvest, join, case.z, case.solver)) for join in each]
            best[case] = np.minimum(best[case], took)
    return {case: 1000 * float(np.mean(each)) for case, each in best.items()}


def _chosen(streams: int, slices: int, z: float) -> float:
    """Slices that greedy chooses, one in every step; mean over some random joins."""
    settings = [solve_harvest(join, z, "greedy") for join in _joins(streams, slices, 10)]
    return float(np.mean([np.sum(setting) for setting in settings]))


def _joins(streams: int, slices: int, count: int) -> list[list[Direction]]:
    random = np.random.default_rng(streams * 100 + slices)
    return [random_directions(random, streams, slices) for _ in range(count)]


def _timed(solve: Callable[[], Setting]) -> float:
    began = process_time()
    solve()
    return process_time() - began
