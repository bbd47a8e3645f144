"""What a budget does to a join, from what its report says, and as strips: which ages of which window produce results.

    >>> harvest = {"A": {"B": {"edges_us": [0, 1_000_000, 2_000_000], "ranking": [1, 0], "fraction": 0.5}}}
    >>> strip = shedding_view({"budget": {"throttle": 0.5, "harvest": harvest}}, {})["strips"][0]
    >>> strip["title"], strip["cells"], strip["taken"], strip["ends"]
    ('A looks into B', [0.5, 1.0], [False, True], '0 s to 2 s old')

The slice of B that is one to two seconds old is the better one, and the only one that arrivals of A look through.
Where it was learned how results lie in time, cells are their shares; else, as here, the ranking of the slices.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from dovetail.dashboard.ages import heat
from dovetail.dashboard.incoming import number

STRIPS = 40  # as many as can be told apart on a laptop's screen
CELLS = 100  # as many as can be told apart in a strip
_SHARES = ("throttle", "completeness", "completeness_low", "completeness_high", "missed", "cpu", "given_s", "used_s")


def shedding_view(more: Mapping[str, Any], promised: Mapping[str, Any]) -> dict[str, Any]:
    """Everything about budgets: shares, sums, strips; ``promised`` is the budget that the run was given."""
    budget, memory = _mapping(more.get("budget")), _mapping(more.get("memory"))
    view: dict[str, Any] = numbers_of(more)
    view["dropped"] = _total(budget.get("dropped")) + _total(memory.get("trimmed"))
    view["skipped"] = number(budget.get("comparisons_skipped"))
    view["spilled_bytes"] = number(memory.get("spilled_bytes"))
    view["memory_budget"] = number(promised.get("memory"))
    view["short"] = budget.get("short") is True or memory.get("over") is True
    view["kept"] = [{"name": name, "share": share} for name, share in _numbers(budget.get("kept")).items()]
    held, limit = number(memory.get("held")), number(memory.get("limit"))
    view["memory_used"] = held / limit if held is not None and limit else None
    view["strips"] = [
        *_harvested(budget.get("harvest"), _mapping(budget.get("histograms"))),
        *_learned(budget.get("histograms")),
    ][:STRIPS]
    return {name: value for name, value in view.items() if value not in (None, [], False)}


def numbers_of(more: Mapping[str, Any]) -> dict[str, float]:
    """Completeness, throttle and the like, wherever a report has them: of the join, its CPU or its memory budget."""
    found: dict[str, float] = {}
    for part in (more.get("memory"), more.get("budget"), more):
        for name in _SHARES:
            value = number(_mapping(part).get(name))
            if value is not None:
                found[name] = min(value, found[name]) if name == "completeness" and name in found else value
    return found


def dropped_of(more: Mapping[str, Any]) -> dict[str, float]:
    """Tuples of each stream that a budget kept out."""
    budget, memory = _mapping(more.get("budget")), _mapping(more.get("memory"))
    sums = _numbers(budget.get("dropped"))
    for name, count in _numbers(memory.get("trimmed")).items():
        sums[name] = sums.get(name, 0.0) + count
    return sums


def _harvested(harvest: Any, learned: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """By direction: slices from the newest to the oldest, the more results the hotter, and those looked through."""
    for arriving, windows in _mapping(harvest).items():
        for probed, slices in _mapping(windows).items():
            edges, ranking = _list(_mapping(slices).get("edges_us")), _list(_mapping(slices).get("ranking"))
            count = min(len(ranking), len(edges) - 1, CELLS)
            if count < 1 or not _rising(edges):
                continue
            places = {at: place for place, at in enumerate(ranking) if isinstance(at, int)}
            chosen = round((number(_mapping(slices).get("fraction")) or 0.0) * len(ranking))
            yield {
                "title": f"{arriving} looks into {probed}",
                "cells": heat(learned, arriving, probed, edges[: count + 1])
                or [1 - places.get(at, count) / len(ranking) for at in range(count)],
                "taken": [places.get(at, len(ranking)) < chosen for at in range(count)],
                "ends": f"{_span(edges[0])} to {_span(edges[count])} old",
            }


def _rising(edges: list[Any]) -> bool:
    known = [edge for edge in map(number, edges) if edge is not None]
    return len(known) == len(edges) and all(low < high for low, high in pairwise(known))


def _learned(histograms: Any) -> Iterator[dict[str, Any]]:
    """By stream: how much later than the first stream's its members of results are."""
    for name, histogram in _mapping(histograms).items():
        counts = [number(count) or 0.0 for count in _list(_mapping(histogram).get("counts"))]
        low, wide = (number(_mapping(histogram).get(part)) for part in ("low_us", "bin_us"))
        if low is None or wide is None or not sum(counts) > 0:
            continue
        step = -(-len(counts) // CELLS)
        cells = [sum(counts[at : at + step]) / sum(counts) for at in range(0, len(counts), step)]
        ends = f"{_span(low)} to {_span(low + wide * len(counts))}"
        yield {"title": f"{name} in results, after the first stream", "cells": cells, "taken": None, "ends": ends}


def _span(time_us: float) -> str:
    """A time in a unit that fits.

    >>> _span(1_500_000), _span(-600_000_000), _span(7_200_000_000)
    ('1.5 s', '-10 min', '2 h')
    """
    seconds = time_us / 1e6
    for unit, factor in (("h", 3600), ("min", 60)):
        if abs(seconds) >= 2 * factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def _total(counts: Any) -> float:
    return sum(_numbers(counts).values())


def _numbers(value: Any) -> dict[str, float]:
    found = {name: number(each) for name, each in _mapping(value).items()}
    return {name: each for name, each in found.items() if each is not None}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
