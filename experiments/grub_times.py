"""Grub's figures about how quickly harvest fractions are chosen: over slices (8), over the throttle (9, 10)."""

from collections.abc import Callable, Sequence
from functools import partial
from time import process_time

import numpy as np

from dovetail.control.harvest_model import Direction, Setting
from dovetail.control.solve_harvest import solve_harvest
from dovetail.model.budget import Solver
from experiments.grub_solvers import random_directions
from experiments.outcome import Curve, Mark, Outcome, Panel


def figure_8(quick: bool) -> Outcome:
    """A throttle of 0.25, five to twenty slices per window."""
    slices = (5, 10, 20) if quick else (5, 8, 10, 12, 15, 20)
    greedy = {m: [_milliseconds(m, n, 0.25, "greedy", quick) for n in slices] for m in (3, 4, 5)}
    used = [_milliseconds(5, n, 0.25, "double-sided", quick) for n in slices]
    exhaustive = [_milliseconds(3, n, 0.25, "exhaustive", quick) for n in slices]
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
            "everything over greedy, 3 streams, 10 slices": exhaustive[ten] / greedy[3][ten],
        },
        checks={
            "measured, 5 streams and 20 slices take 10 ms at most": max(greedy[5][-1], used[-1]) <= 10,
            "measured, more streams take longer": greedy[3][-1] < greedy[4][-1] < greedy[5][-1],
            "measured, everything takes at least ten times as long, 20 slices": exhaustive[-1] > 10 * greedy[3][-1],
        },
        panels=(
            Panel(
                "slices per window",
                "ms",
                (
                    *(Curve(f"greedy, {m} streams", slices, times) for m, times in greedy.items()),
                    Curve("double-sided, 5 streams", slices, used),
                    Curve("everything, 3 streams", slices, exhaustive),
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
            "Our way to try everything leaves out settings of a direction that another beats in both cost and output "
            "before it combines directions; so it takes milliseconds where the paper's takes seconds.",
        ),
    )


def figure_9(quick: bool) -> Outcome:
    """Ten slices; 3, 4 and 5 streams."""
    throttles = _over_z(quick)
    times = {m: [_milliseconds(m, 10, z, "greedy", quick) for z in throttles] for m in (3, 4, 5)}
    few, many = (_chosen(5, 10, z) for z in (0.1, 0.9))
    handed = _milliseconds(5, 10, 0.0, "greedy", quick)
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
    """Five streams, ten slices; greedy, reverse, double-sided."""
    throttles = _over_z(quick)
    ways: dict[str, Solver] = {"greedy": "greedy", "greedy reverse": "reverse", "double-sided": "double-sided"}
    times = {name: [_milliseconds(5, 10, z, way, quick) for z in throttles] for name, way in ways.items()}
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
            "measured, double-sided is within twice the quicker one, at both ends": all(
                times["double-sided"][at] < 2 * min(times["greedy"][at], times["greedy reverse"][at]) for at in (0, -1)
            ),
        },
        panels=(_times("throttle z", throttles, times),),
        differences=(
            "Ours are five streams, where the times can be told apart; the paper's are three. Double-sided makes some "
            "steps more afterwards (see grub-7), which take longer than the climb itself.",
            "Most of what greedy and reverse take is handing the model over (see grub-9), which both do: so a short "
            "run may not tell which of the two is quicker.",
        ),
    )


def _over_z(quick: bool) -> tuple[float, ...]:
    return (0.1, 0.5, 0.9) if quick else (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def _times(x: str, at: Sequence[float], times: dict[str, list[float]]) -> Panel:
    return Panel(x, "ms", tuple(Curve(name, at, each) for name, each in times.items()), log_y=True)


def _milliseconds(streams: int, slices: int, z: float, solver: Solver, quick: bool) -> float:
    """CPU time, the quickest of some runs, mean over some random joins."""
    joins = _joins(streams, slices, 3 if quick else 10)
    return 1000 * float(np.mean([_quickest(partial(solve_harvest, join, z, solver), quick) for join in joins]))


def _chosen(streams: int, slices: int, z: float) -> float:
    """Slices that greedy chooses, one in every step; mean over some random joins."""
    settings = [solve_harvest(join, z, "greedy") for join in _joins(streams, slices, 10)]
    return float(np.mean([np.sum(setting) for setting in settings]))


def _joins(streams: int, slices: int, count: int) -> list[list[Direction]]:
    random = np.random.default_rng(streams * 100 + slices)
    return [random_directions(random, streams, slices) for _ in range(count)]


def _quickest(solve: Callable[[], Setting], quick: bool) -> float:
    took = []
    for _ in range(3 if quick else 9):
        began = process_time()
        solve()
        took.append(process_time() - began)
    return min(took)
