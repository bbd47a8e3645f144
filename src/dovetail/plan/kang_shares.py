"""How two streams share too little CPU or memory (Kang, Naughton, Viglas: window joins over unbounded streams).

Everything follows from the output rate: selectivity * (tuples kept of A * rate of B + tuples kept of B * rate of A).

Example: streams of 5 and 100 tuples per second, a join that manages 50 in all; then 1000 tuples of memory.

    >>> regulated_rates(5, 100, capacity=50)
    (5, 45)
    >>> shared_memory(10, 50, memory=1000)
    (1000, 0)
"""

from dataclasses import dataclass
from math import inf


def output_rate(selectivity: float, a_rate: float, b_rate: float, a_window_s: float, b_window_s: float) -> float:
    """Results per second (equation 9); ``selectivity`` is the smaller of the two streams'."""
    return kept_output_rate(selectivity, a_rate, b_rate, a_rate * a_window_s, b_rate * b_window_s)


def kept_output_rate(selectivity: float, a_rate: float, b_rate: float, a_tuples: float, b_tuples: float) -> float:
    """The same, from the numbers of tuples kept."""
    return selectivity * (a_tuples * b_rate + b_tuples * a_rate)


def regulated_rates(a_rate: float, b_rate: float, capacity: float) -> tuple[float, float]:
    """Too little CPU for both: half for each, or the slower one whole and the rest for the other (equation 11)."""
    if a_rate + b_rate <= capacity:
        return a_rate, b_rate
    if a_rate <= b_rate:
        slower = min(a_rate, capacity / 2)
        return slower, capacity - slower
    slower = min(b_rate, capacity / 2)
    return capacity - slower, slower


def shared_memory(
    a_rate: float, b_rate: float, memory: float, a_window_s: float = inf, b_window_s: float = inf
) -> tuple[float, float]:
    """Too little memory, so many tuples of each: the slower stream first, up to its window; the rest for the other."""
    a_full, b_full = a_rate * a_window_s, b_rate * b_window_s
    if a_rate <= b_rate:
        kept = min(memory, a_full)
        return kept, min(memory - kept, b_full)
    kept = min(memory, b_full)
    return min(memory - kept, a_full), kept


@dataclass(frozen=True)
class Share:
    """Of one stream all the memory, of the other (almost) all the rate."""

    kept_rate: float
    kept_tuples: float
    probing_rate: float

    def output_rate(self, selectivity: float) -> float:
        return selectivity * self.kept_tuples * self.probing_rate


def share_both(capacity: float, memory: float, window_s: float) -> Share:
    """Too little of both: the kept stream gets the rate that keeps its memory full, the other the rest.

    If the memory holds more than a window at half the capacity, half for each is best.
    """
    kept_rate = min(memory / window_s, capacity / 2)
    return Share(kept_rate, min(memory, kept_rate * window_s), capacity - kept_rate)
