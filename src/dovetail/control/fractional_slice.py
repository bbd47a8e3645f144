"""The rest of a budget: part of one more slice, where a whole one does not fit.

Solvers take slices whole. What is left then may be as much as half of the budget, and goes to whatever still fits,
however little it gives. Instead, what gives less for its cost than the next best slice makes room for that, and of the
last slice only a part is looked through. Example: A's window has a good slice and one half as good, of 10 tuples
each; B's arrivals find nearly nothing.

    >>> from dovetail.control.harvest_model import HarvestStep
    >>> good = Direction(1.0, (HarvestStep(1.0, (0.0, 10.0, 20.0), (0.0, 0.7, 1.0)),))
    >>> poor = Direction(1.0, (HarvestStep(0.001, (0.0, 5.0), (0.0, 1.0)),))
    >>> add_fractional_slice([good, poor], ((1,), (1,)), budget=15.0)
    Filled(setting=((1,), (0,)), part=FractionalSlice(direction=0, step=0, share=0.5))
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

from dovetail.control.harvest_model import Counts, Direction, Setting

_MOST_MOVES = 100  # each must pay, so there are few; this ends them in any case
_CLEARLY = 0.7  # a move must gain more than the estimates are wrong by


@dataclass(frozen=True)
class FractionalSlice:
    """The next best slice of one step of a direction, and how much of it is looked through."""

    direction: int
    step: int
    share: float


@dataclass(frozen=True)
class Filled:
    """Slices by direction and step, and part of one more."""

    setting: Setting
    part: FractionalSlice | None

    def share(self, direction: int, step: int) -> float:
        """How much of the next slice of a step is looked through."""
        part = self.part
        return part.share if part is not None and (part.direction, part.step) == (direction, step) else 0.0

    def value(self, directions: Sequence[Direction]) -> tuple[float, float]:
        """Output and cost per second; both grow evenly with the part."""
        output = cost = 0.0
        for at, (direction, counts) in enumerate(zip(directions, self.setting, strict=True)):
            own = direction.value(counts)
            if self.part is not None and self.part.direction == at:
                more = direction.value(_moved(counts, self.part.step, 1))
                own = own[0] + self.part.share * (more[0] - own[0]), own[1] + self.part.share * (more[1] - own[1])
            output, cost = output + own[0], cost + own[1]
        return output, cost


class _Move(NamedTuple):
    """One slice more, or less, of a direction's step: output for its cost, its cost, and the counts after it."""

    worth: float
    cost: float
    direction: int
    step: int
    after: Counts


def add_fractional_slice(directions: Sequence[Direction], setting: Setting, budget: float) -> Filled:
    """The setting, or what is better: without what is worth clearly less than the best left out, and filled up."""
    filled = [_filled(directions, some, budget) for some in (setting, _trimmed(directions, setting))]
    return max(filled, key=lambda each: each.value(directions)[0])


def _trimmed(directions: Sequence[Direction], setting: Setting) -> Setting:
    counts = list(setting)
    more, less = ([_moves(*each, by) for each in zip(count(), directions, counts)] for by in (1, -1))
    for _ in range(_MOST_MOVES):
        best, worst = max(chain(*more), default=None), min(chain(*less), default=None)
        if best is None or worst is None or worst.worth >= _CLEARLY * best.worth:
            break
        at, counts[worst.direction] = worst.direction, worst.after
        more[at], less[at] = (_moves(at, directions[at], counts[at], by) for by in (1, -1))
    return tuple(counts)


def _filled(directions: Sequence[Direction], setting: Setting, budget: float) -> Filled:
    """Slice by slice, the best for its cost first, until one does not fit whole."""
    counts, left = list(setting), budget - Filled(setting, None).value(directions)[1]
    more = [_moves(*each, 1) for each in zip(count(), directions, counts)]
    for _ in range(_MOST_MOVES):
        best = max(chain(*more), default=None)
        if best is None or left <= 0:
            break
        at = best.direction
        if best.cost > left:
            counts[at] = _moved(best.after, best.step, -1)
            return Filled(tuple(counts), FractionalSlice(at, best.step, left / best.cost))
        counts[at], left = best.after, left - best.cost
        more[at] = _moves(at, directions[at], counts[at], 1)
    return Filled(tuple(counts), None)


def _moves(at: int, direction: Direction, counts: Counts, by: int) -> list[_Move]:
    """Each slice more or less; a direction begins with one slice of each of its windows, and may end at once."""
    output, cost = direction.value(counts)
    found = []
    for step, after in enumerate(_neighbours(direction, counts, by)):
        if after is not None:
            more_output, more_cost = direction.value(after)
            gain, spent = by * (more_output - output), by * (more_cost - cost)
            if gain > 0 and spent > 0:
                found.append(_Move(gain / spent, spent, at, step, after))
    return found


def _neighbours(direction: Direction, counts: Counts, by: int) -> list[Counts | None]:
    if by > 0 and not any(counts):
        return [direction.least]
    within = [0 < counts[step] + by <= each.slices for step, each in enumerate(direction.steps)]
    moved = [_moved(counts, step, by) if fits and any(counts) else None for step, fits in enumerate(within)]
    return moved if by > 0 else [*moved, direction.off]


def _moved(counts: Counts, step: int, by: int) -> Counts:
    return (*counts[:step], counts[step] + by, *counts[step + 1 :])
