"""Too little CPU and too little memory at once: which share of each stream to keep, and how many tuples to store.

The model of ``drop_rates`` with windows that hold n_j tuples instead of all that were kept:

    output   sum_i  k_i l_i * product over j of  f_ij n_j / full_j
    cost     sum_i  k_i l_i * (overhead_i + sum_j  n_j * product of (f n / full) of the windows before)
    so that  sum_j  size_j n_j <= memory,   n_j <= k_j full_j

For given n both are linear in k, so the best k is a greedy filling: first the least that keeps n full, then the streams
by results per cost. Over n: two streams in closed form (Kang, Naughton and Viglas, section 4.3), all of the memory to
one and what CPU is left to the other. With overhead o per arrival and a window of T seconds storing x tuples gives
(B - o x/T) x / (o + x) results, most at x = sqrt(o^2 + B T) - o; for large o that is their u T/2. More streams: a
search from the same beginnings.

    >>> a = Arriving("A", 100.0, 1.0, ("B",), (1000.0,), (1.0,))
    >>> b = Arriving("B", 100.0, 1.0, ("A",), (1000.0,), (1.0,))
    >>> both = split_cpu_and_memory([a, b], budget=500.0, memory=20.0)
    >>> {name: round(tuples, 1) for name, tuples in both.stored.items()}
    {'A': 20.0, 'B': 0.0}
    >>> {name: round(share * 100.0, 1) for name, share in both.kept.items()}    # tuples per second: M/T, and the rest
    {'A': 2.0, 'B': 23.7}
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from math import inf, sqrt

from dovetail.control.drop_rates import Arriving, keep_rates
from dovetail.plan.allocate_memory import allocate_memory

_LEAST = 1e-6  # tuples, so that nothing is divided by zero
_FINEST = 1e-3  # of a stream's CPU: finer than it can be measured
_SLACK = 1 + 1e-9  # what rounding may add to a full memory

Shares = dict[str, float]


@dataclass(frozen=True)
class Both:
    """Of each stream the share that is let in and the tuples that are stored; results per second by the model."""

    kept: Shares
    stored: Shares
    output: float


@dataclass(frozen=True)
class _Model:
    directions: Sequence[Arriving]
    budget: float
    memory: float
    sizes: Mapping[str, float]

    @cached_property
    def full(self) -> Shares:
        """How many tuples each window holds if everything is kept."""
        return {
            name: tuples
            for direction in self.directions
            for name, tuples in zip(direction.order, direction.tuples, strict=True)
        }

    def worth(self, direction: Arriving, stored: Mapping[str, float]) -> tuple[float, float]:
        """Results and cost of one arrival."""
        reached, cost = 1.0, direction.overhead
        for name, tuples, fanout in zip(direction.order, direction.tuples, direction.fanouts, strict=True):
            cost += reached * stored[name]
            reached *= fanout * stored[name] / max(tuples, _LEAST)
        return reached, cost

    def best(self, stored: Shares) -> Both:
        """The best keep rates for what is stored; nothing if the CPU cannot even keep that full."""
        full, worth = self.full, {each.stream: self.worth(each, stored) for each in self.directions}
        rates = {each.stream: each.rate for each in self.directions}
        kept = {name: min(1.0, stored[name] / max(full[name], _LEAST)) for name in rates}
        left = self.budget - sum(rates[name] * kept[name] * worth[name][1] for name in rates)
        room = sum(self.sizes[name] * stored[name] for name in rates) <= self.memory * _SLACK
        if left < -self.budget * 1e-9 or not room:
            return Both(kept, stored, 0.0)
        for name in sorted(rates, key=lambda each: -worth[each][0] / max(worth[each][1], _LEAST)):
            if worth[name][0] > 0:
                more = min(1 - kept[name], max(left, 0.0) / max(rates[name] * worth[name][1], _LEAST))
                kept[name] += more
                left -= more * rates[name] * worth[name][1]
        return Both(kept, stored, sum(rates[name] * kept[name] * worth[name][0] for name in rates))


def split_cpu_and_memory(
    directions: Sequence[Arriving], budget: float, memory: float = inf, sizes: Mapping[str, float] | None = None
) -> Both:
    """At most ``budget`` comparisons per second and ``memory``, of which a tuple takes ``sizes`` (1)."""
    names = [direction.stream for direction in directions]
    model = _Model(directions, budget, memory, sizes or dict.fromkeys(names, 1.0))
    kept = keep_rates(directions, budget)
    stored = {name: kept[name] * model.full[name] for name in names}
    if sum(model.sizes[name] * stored[name] for name in names) <= memory:
        return Both(kept, stored, model.best(stored).output)
    tried = [model.best(start) for start in _beginnings(model, names, kept)]
    if len(names) > 2:
        tried = [_searched(model, each) for each in tried]
    return max(tried, key=lambda each: each.output)


def _beginnings(model: _Model, names: Sequence[str], kept: Mapping[str, float]) -> Iterator[Shares]:
    """Each choice of streams to store: the memory to one after the other, or as much to each; the rest only probes."""
    full = model.full
    rates = {direction.stream: direction.rate * kept[direction.stream] for direction in model.directions}
    yield allocate_memory(rates, {name: kept[name] * full[name] for name in names}, model.memory, model.sizes)
    for count in range(1, len(names) + 1):
        for some in permutations(names, count) if len(names) == 2 else combinations(names, count):
            yield _affordable(model, _filled(model, some, 1 if len(names) == 2 else count))


def _filled(model: _Model, order: Sequence[str], parts: int) -> Shares:
    stored, left = {each.stream: 0.0 for each in model.directions}, model.memory
    arriving = {each.stream: each for each in model.directions}
    for name in order:
        overhead, window_s = arriving[name].overhead, model.full[name] / max(arriving[name].rate, _LEAST)
        best = sqrt(overhead**2 + model.budget * window_s) - overhead
        stored[name] = min(min(left, model.memory / parts) / model.sizes[name], model.full[name], best)
        left = max(0.0, left - stored[name] * model.sizes[name])
    return stored


def _affordable(model: _Model, stored: Shares) -> Shares:
    """As much of it as the CPU can keep full."""
    low, high = 0.0, 1.0
    if model.best(stored).output > 0:
        return stored
    for _ in range(30):
        middle = (low + high) / 2
        fits = model.best({name: middle * tuples for name, tuples in stored.items()}).output > 0
        low, high = (middle, high) if fits else (low, middle)
    return {name: low * tuples for name, tuples in stored.items()}


def _searched(model: _Model, best: Both) -> Both:
    """Move tuples from one stream to another, or add and take away some, while that gains; then in smaller steps."""
    step = 0.5
    while step > _FINEST:
        found = max((model.best(each) for each in _moves(model, best.stored, step)), key=lambda each: each.output)
        if found.output > best.output * (1 + 1e-6):
            best = found
        else:
            step /= 2
    return best


def _moves(model: _Model, stored: Shares, step: float) -> Iterator[Shares]:
    full, sizes = model.full, model.sizes
    for name in stored:
        part = step * model.memory / len(stored) / sizes[name]
        yield stored | {name: max(0.0, stored[name] - part)}
        yield stored | {name: min(full[name], stored[name] + part)}
    for one, other in permutations(stored, 2):
        moved = min(stored[one] * sizes[one], step * model.memory / len(stored))
        grown = min(full[other], stored[other] + moved / sizes[other])
        yield stored | {one: stored[one] - moved / sizes[one], other: grown}
