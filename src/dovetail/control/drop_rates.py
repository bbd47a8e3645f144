"""RandomDrop: which share of each stream to keep when there is too little CPU for all of it.

The same model as for harvesting, solved for keep rates k_i instead of harvest fractions: every stream arrives, and
fills its window, at k_i of its rate. All results have one member of every stream, so

    output   O(k) = O(1) * k_1 * ... * k_m
    cost     C(k) = sum_i  k_i l_i * (overhead_i + sum_j  k_j S_j * product of (k f) of the windows before)

log O is linear and log C convex in log k, so the best k is where every stream that is not kept whole has the same
share k_i dC/dk_i of the cost. For two streams the optimum is that of Kang, Naughton and Viglas: equal rates, or the
slower stream whole and the rest for the other.

    >>> a = Arriving("A", 5.0, 10.0, ("B",), (0.0,), (1.0,))
    >>> b = Arriving("B", 100.0, 10.0, ("A",), (0.0,), (1.0,))
    >>> {name: round(kept, 2) for name, kept in keep_rates([a, b], budget=500.0).items()}
    {'A': 1.0, 'B': 0.45}
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dovetail.plan.kang_shares import regulated_rates

_SWEEPS = 200  # steps shrink geometrically; this ends them in any case
_HALVINGS = 60  # a double has 53 bits
_LEAST = 1e-6  # of the budget, so that nothing is divided by zero

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Arriving:
    """One direction: the windows it looks through in order, how many tuples each holds, how many match.

    ``overhead`` is what an arrival costs apart from comparing, in comparisons.
    """

    stream: str
    rate: float
    overhead: float
    order: tuple[str, ...]
    tuples: tuple[float, ...]
    fanouts: tuple[float, ...]

    def cost(self, kept: Mapping[str, float]) -> float:
        """Comparisons per second."""
        return sum(amount for amount, _ in self.terms(kept))

    def terms(self, kept: Mapping[str, float]) -> list[tuple[float, tuple[str, ...]]]:
        """The summands of the cost, each with the streams whose keep rates are factors of it."""
        reached = self.rate * kept[self.stream]
        streams: tuple[str, ...] = (self.stream,)
        found = [(reached * self.overhead, streams)]
        for name, tuples, fanout in zip(self.order, self.tuples, self.fanouts, strict=True):
            streams = (*streams, name)
            found.append((reached * tuples * kept[name], streams))
            reached *= fanout * kept[name]
        return found


def total_cost(directions: Sequence[Arriving], kept: Mapping[str, float]) -> float:
    """Comparisons per second of all directions."""
    return sum(direction.cost(kept) for direction in directions)


def keep_rates(directions: Sequence[Arriving], budget: float) -> dict[str, float]:
    """The shares of the streams that give the most results for at most ``budget`` comparisons per second."""
    whole = {direction.stream: 1.0 for direction in directions}
    if total_cost(directions, whole) <= budget:
        return whole
    return _regulated(directions, budget) if len(directions) == 2 else _balanced(directions, budget)


def _regulated(directions: Sequence[Arriving], budget: float) -> dict[str, float]:
    """Two streams: the number of tuples per second that the budget allows, shared out as the paper says."""
    a, b = directions

    def shares(capacity: float) -> dict[str, float]:
        first, second = regulated_rates(a.rate, b.rate, capacity)
        return {a.stream: first / max(a.rate, _LEAST), b.stream: second / max(b.rate, _LEAST)}

    return shares(_largest(lambda rate: total_cost(directions, shares(rate)) <= budget, a.rate + b.rate))


def _balanced(directions: Sequence[Arriving], budget: float) -> dict[str, float]:
    """Any number of streams: equal cost shares, a stream kept whole wherever it would have to be more."""
    names = [direction.stream for direction in directions]
    factors, factor_of = _factors(directions, names)
    kept = np.full(len(names), 0.5)
    for _ in range(_SWEEPS):
        terms = factors * np.exp(factor_of @ np.log(kept))
        shares = np.maximum(terms @ factor_of, _LEAST * budget)
        free = kept < 1.0
        level = np.exp(np.log(shares[free]).mean()) if free.any() else shares.max()
        degree = max(float(shares[free].sum()) / terms.sum(), 1.0)
        kept = np.clip(kept * np.sqrt(level / shares) * (budget / terms.sum()) ** (1 / degree), _LEAST, 1.0)
    fit = _largest(lambda by: _sum_of(factors, factor_of, kept * by) <= budget, 1 / float(kept.min()))
    return dict(zip(names, np.clip(kept * fit, _LEAST, 1.0).tolist(), strict=True))


def _factors(directions: Sequence[Arriving], names: Sequence[str]) -> tuple[Floats, Floats]:
    """The cost with everything kept, summand by summand, and which streams' keep rates multiply each."""
    whole = dict.fromkeys(names, 1.0)
    terms = [term for direction in directions for term in direction.terms(whole) if term[0] > 0]
    incidence = [[float(name in streams) for name in names] for _, streams in terms]
    return np.array([amount for amount, _ in terms]), np.array(incidence)


def _sum_of(factors: Floats, factor_of: Floats, kept: Floats) -> float:
    return float((factors * np.exp(factor_of @ np.log(np.clip(kept, _LEAST, 1.0)))).sum())


def _largest(fits: Callable[[float], bool], above: float) -> float:
    """The largest number up to ``above`` that fits, by halving; smaller ones always fit."""
    low, high = 0.0, above
    if fits(high):
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
