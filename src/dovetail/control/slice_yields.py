"""What the slices of a window yield, at most: results found there over tuples looked at, and an upper bound of it.

Choosing slices is exploring and exploiting at once. A slice that was looked through often without a result is known
to be poor; one that hardly anybody has looked at is not, and counts as it was expected to. So results and looks are
counted for every slice, of all arrivals, and the bound is

    yield of a slice, over the average one    (n + sqrt(n) + expected) / (e + 1)

with n results, of those e that an average slice would have given for as many looks; results of one arrival belong
together and count as one. Example: three slices of 10 tuples each; in the first two 40 arrivals have looked, and found
20 results in the first. The third is looked at before the second.

    >>> yields = SliceYields()
    >>> yields.learn(("A", "B"), np.array([20.0, 0.0, 0.0]), np.array([400.0, 400.0, 0.0]), together=1.0)
    >>> yields.density(("A", "B"), np.ones(3), np.full(3, 10.0)).round(2).tolist()
    [1.94, 0.08, 1.0]
"""

from typing import Any

import numpy as np

from dovetail.control.harvest_model import Floats
from dovetail.engine.buffer.header import numbers

_FADE = 0.6  # of what an interval says four tenths are new: two intervals outweigh all before
_FEW, _ENOUGH = 100.0, 30.0  # results that still count if there are new ones; that do however long ago they were found
_ROUNDS = 4  # each brings yields and their average closer together

Direction = tuple[str, str]
BySlice = dict[Direction, Floats]


def still_counts(known: float, fresh: float, few: float, enough: float = 0.0) -> float:
    """By which factor old evidence goes on counting, as if every interval had told as much as this one."""
    worth = max(_FADE / (1 - _FADE) * fresh, few)
    return max(min(_FADE, worth / known), min(1.0, enough / known)) if known else 1.0


def plus(known: BySlice, more: BySlice) -> BySlice:
    """Both together, where their slices are the same; else what is known."""
    same = {each for each, counts in known.items() if len(more.get(each, ())) == len(counts)}
    return {**more, **{each: counts + more[each] if each in same else counts for each, counts in known.items()}}


class SliceYields:
    """Faded sums by direction and slice: independent results, and tuples that were looked at."""

    def __init__(self) -> None:
        self.results: BySlice = {}
        self.looked: BySlice = {}

    def learn(self, direction: Direction, results: Floats, looked: Floats, together: float) -> None:
        """So many results were found in each slice, so many at a time, and so many tuples looked at."""
        found = results / together
        known = self.results.get(direction)
        if known is None or len(known) != len(found):
            self.results[direction], self.looked[direction] = found, looked
            return
        still = still_counts(float(known.sum()), float(found.sum()), _FEW, _ENOUGH)
        self.results[direction] = still * known + found
        self.looked[direction] = still * self.looked[direction] + looked

    def density(self, direction: Direction, expected: Floats, tuples: Floats) -> Floats:
        """What a tuple of each slice may yield over an average one; ``expected``: the same by what else is known."""
        found, looked = (sums.get(direction, np.zeros(0)) for sums in (self.results, self.looked))
        if len(found) != len(expected) or not found.any():
            return expected
        average, whole = found.sum() / max(looked.sum(), 1e-300), max(tuples.sum(), 1e-300)
        for _ in range(_ROUNDS):  # slices with results are looked at more: their yield is above the average one
            density = (found + np.sqrt(found) + expected) / (looked * average + 1.0)
            average *= float((density * tuples).sum() / whole)
        return np.asarray(density, np.float64)

    def plus(self, values: list[Any]) -> "SliceYields":
        """What was found and looked at here and elsewhere, which comes as plain values."""
        both, other = SliceYields(), SliceYields()
        other.restore(values)
        both.results, both.looked = plus(self.results, other.results), plus(self.looked, other.looked)
        return both

    def to_json(self) -> list[Any]:
        """As plain values."""
        return [[*each, self.results[each].tolist(), self.looked[each].tolist()] for each in self.results]

    def restore(self, values: list[Any]) -> None:
        """Back from plain values."""
        self.results = {(a, b): numbers(results) for a, b, results, _ in values}
        self.looked = {(a, b): numbers(looked) for a, b, _, looked in values}
