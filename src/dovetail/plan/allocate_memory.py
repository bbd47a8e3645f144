"""How streams share too little memory: as many results as possible, by how much each stored tuple is worth.

An arrival of stream i meets one tuple of every other window, so results per second are proportional to the sum over i
of ``rate_i`` times the product of the others' stored tuples. Two streams (Kang, section 4.3): that is linear, a stored
tuple of A is worth the rate of B, so all goes to the slower stream up to its window, and the rest to the other; the
faster one mostly probes. More streams: the same sum, climbed by moving memory between two streams at a time, for which
the best division is the top of a parabola; the best of several beginnings counts.

    >>> allocate_memory({"A": 10, "B": 50}, {"A": 5000, "B": 5000}, memory=1000)
    {'A': 1000.0, 'B': 0.0}
    >>> allocate_memory({"A": 10, "B": 50}, {"A": 400, "B": 5000}, memory=1000)
    {'A': 400.0, 'B': 600.0}
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import prod

_ROUNDS = 100  # each must gain; this ends them in any case
_CLOSE = 1e-9  # rounding of sums

Tuples = dict[str, float]


def allocate_memory(
    rates: Mapping[str, float], full: Mapping[str, float], memory: float, sizes: Mapping[str, float] | None = None
) -> Tuples:
    """Tuples to store of each stream: at most ``full``, all together ``memory``; ``sizes``: what one tuple takes."""
    each = sizes or dict.fromkeys(rates, 1.0)
    if sum(full[name] * each[name] for name in rates) <= memory:
        return {name: float(full[name]) for name in rates}
    starts = [_filled(order, full, memory, each) for order in _orders(rates)]
    if len(rates) == 2:
        return max(starts, key=lambda kept: output(rates, kept))
    starts.append(_in_proportion(rates, full, memory, each))
    climbed = [_climb(rates, full, each, start) for start in starts]
    return max(climbed, key=lambda kept: output(rates, kept))


def output(rates: Mapping[str, float], kept: Mapping[str, float]) -> float:
    """Results per second, but for the selectivity: what is maximised."""
    return sum(rate * prod(kept[other] for other in rates if other != name) for name, rate in rates.items())


def _orders(rates: Mapping[str, float]) -> Iterator[list[str]]:
    """Each stream first, then the others, the slower before the faster."""
    by_rate = sorted(rates, key=lambda name: rates[name])
    for first in by_rate:
        yield [first, *(name for name in by_rate if name != first)]


def _filled(order: list[str], full: Mapping[str, float], memory: float, sizes: Mapping[str, float]) -> Tuples:
    kept, left = dict.fromkeys(full, 0.0), memory
    for name in order:
        kept[name] = min(float(full[name]), left / sizes[name])
        left = max(0.0, left - kept[name] * sizes[name])
    return kept


def _in_proportion(
    rates: Mapping[str, float], full: Mapping[str, float], memory: float, sizes: Mapping[str, float]
) -> Tuples:
    share = memory / sum(full[name] * sizes[name] for name in rates)
    return {name: full[name] * share for name in rates}


def _climb(rates: Mapping[str, float], full: Mapping[str, float], sizes: Mapping[str, float], start: Tuples) -> Tuples:
    kept, reached = dict(start), output(rates, start)
    for _ in range(_ROUNDS):
        for one, other in combinations(rates, 2):
            kept = _divided(rates, full, sizes, kept, one, other)
        now = output(rates, kept)
        if now <= reached * (1 + _CLOSE):
            break
        reached = now
    return kept


def _divided(
    rates: Mapping[str, float],
    full: Mapping[str, float],
    sizes: Mapping[str, float],
    kept: Tuples,
    one: str,
    other: str,
) -> Tuples:
    """The same memory between two streams, divided as well as can be: results are a parabola in that."""
    memory = kept[one] * sizes[one] + kept[other] * sizes[other]
    most = min(full[one], memory / sizes[one])
    least = max(0.0, (memory - full[other] * sizes[other]) / sizes[one])

    def divided(tuples: float) -> Tuples:
        return kept | {one: tuples, other: max(0.0, (memory - tuples * sizes[one]) / sizes[other])}

    middle = (least + most) / 2
    low, at, high = (output(rates, divided(tuples)) for tuples in (least, middle, most))
    bend, half = low - 2 * at + high, (most - least) / 2
    top = middle if bend >= 0 else min(most, max(least, middle + half * (low - high) / (2 * bend)))
    return max((kept, divided(least), divided(top), divided(most)), key=lambda each: output(rates, each))
