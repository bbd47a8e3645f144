"""Leave out slices, tuples, or some of both: whichever the model says gives the most results for the time there is.

Looking through fewer slices saves comparisons, but a tuple that is let in costs something all the same; and where
results lie anywhere, dropping tuples may give more for as much work. So these are compared:

    all tuples, as many slices as there is time for
    a share of the tuples of all streams, where a good part of the time goes into letting them in
    RandomDrop's keep rates, and whole windows

Example: each of 10 tuples/s takes 0.2 s to let in and 0.1 s to compare, and there is 1 s per second. With 41 % of
them there is time for whole windows.

    >>> from dovetail.control.harvest_model import HarvestStep
    >>> one = Direction(5.0, (HarvestStep(1.0, (0.0, 5.0, 10.0), (0.0, 0.5, 1.0)),))
    >>> way = best_way(Choice(dict.fromkeys("AB", 5.0), [one, one], {"A": ("B",), "B": ("A",)}), Supply(1.0, 0.2, 0.01))
    >>> round(way.kept["A"], 2), way.whole
    (0.41, True)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from dovetail.control.drop_rates import Arriving, keep_rates
from dovetail.control.fractional_slice import add_fractional_slice
from dovetail.control.harvest_model import Direction, HarvestStep, full_setting, total
from dovetail.control.solve_greedy import solve_forwards
from dovetail.control.spare_capacity import Supply
from dovetail.control.throttle import FEWEST

# finer where few rows are kept: there a step changes most
_SHARES = (0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, FEWEST)
_DEAR = 0.1  # of the time goes into letting tuples in: fewer of them may be better
_LITTLE = 0.02  # of the work: so may they be if hardly any of it can be done
_BETTER = 1.1  # times as many results, before another way than the one in use is taken


@dataclass(frozen=True)
class Way:
    """Do ``z`` of the work for the tuples that are kept; ``whole``: of all their work, no slices are left out."""

    z: float
    kept: Mapping[str, float]
    whole: bool = False


@dataclass(frozen=True)
class Choice:
    """Tuples per second, the model of windows as they are now, and the share of each stream that filled them (1)."""

    rates: Mapping[str, float]
    directions: Sequence[Direction]
    orders: Mapping[str, Sequence[str]]
    kept: Mapping[str, float] = field(default_factory=dict)

    def thinned(self, kept: Mapping[str, float]) -> list[Direction]:
        """The model where so much of each stream is let in."""
        fuller = {name: kept[name] / self.kept.get(name, 1.0) for name in kept}
        return [
            Direction(
                self.rates[name] * kept[name],
                tuple(_fuller(step, fuller[other]) for step, other in zip(one.steps, self.orders[name], strict=True)),
            )
            for name, one in zip(self.rates, self.directions, strict=True)
        ]

    def arriving(self, overhead: float) -> list[Arriving]:
        """The same for keep rates."""
        whole = self.thinned(dict.fromkeys(self.rates, 1.0))
        return [
            Arriving(
                name,
                self.rates[name],
                overhead,
                tuple(self.orders[name]),
                tuple(step.costs[-1] for step in one.steps),
                tuple(step.fanout for step in one.steps),
            )
            for name, one in zip(self.rates, whole, strict=True)
        ]


def _fuller(step: HarvestStep, factor: float) -> HarvestStep:
    return replace(step, fanout=factor * step.fanout, costs=tuple(factor * cost for cost in step.costs))


def best_way(choice: Choice, supply: Supply, before: Way | None = None) -> Way:
    """The way that promises most; the one in use unless another is clearly better."""
    everyone = dict.fromkeys(choice.rates, 1.0)
    first = _looking(choice, everyone, supply)
    if first[0].z >= 1:
        return first[0]
    others = [_dropping(choice, supply)]
    dear = supply.row_s * sum(choice.rates.values()) > _DEAR * supply.cpu
    if dear or first[0].z < _LITTLE:
        others += [_looking(choice, dict.fromkeys(everyone, share), supply) for share in _SHARES]
    way, output = max(others, key=lambda each: each[1])
    drops = before is not None and min(before.kept.values(), default=1.0) < 1
    return way if output > first[1] * (1 / _BETTER if drops else _BETTER) else first[0]


def _looking(choice: Choice, kept: Mapping[str, float], supply: Supply) -> tuple[Way, float]:
    """As many slices as there is time for where so much is let in; results per second."""
    directions = choice.thinned(kept)
    output, cost = total(directions, full_setting(directions))
    budget = supply.work(sum(share * choice.rates[name] for name, share in kept.items()))
    if budget >= cost:
        return Way(1.0, kept), output
    found = add_fractional_slice(directions, solve_forwards(directions, budget), budget).value(directions)[0]
    return Way(budget / cost, kept), found


def _dropping(choice: Choice, supply: Supply) -> tuple[Way, float]:
    """RandomDrop's keep rates; results per second."""
    arriving = choice.arriving(supply.row_s / supply.unit_s)
    kept = keep_rates(arriving, supply.cpu / supply.unit_s)
    full = choice.thinned(dict.fromkeys(kept, 1.0))
    output, cost = total(full, full_setting(full))
    some = choice.thinned(kept)
    share = total(some, full_setting(some))[1] / cost if cost else 1.0
    return Way(share, kept, whole=True), output * prod(kept.values())
