"""What is known about where results lie: histograms, fan-outs and full slices, the latest interval counting most.

From them come the directions of the harvest model (``directions``) and the slices in order of what they promise.

How many match is told by all arrivals: ordinary ones have looked through the share of the window that its chosen slices
are thought to be. So whatever else is wrong, the model gives what was found where it was looked for. Looks are counted
by the tuples that they met, so that those of a window that was still filling tell as much about a full one.

An interval tells a hundred times as much when everything was looked through as when little was. So what is known never
counts for much more than what is new, unless that is too little to go by: the rarer matches are, the longer looks are
kept in mind, until what is found is not what they say. What is promised is an upper bound: nobody is told to look
nowhere because by chance little was found.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.control.ages import AgeHistogram, slice_scores
from dovetail.control.harvest_model import Direction, Floats, HarvestStep, rank_slices, step_of
from dovetail.control.slice_yields import SliceYields, plus, still_counts
from dovetail.engine.buffer.header import finite, numbers
from dovetail.engine.policies.shed.learned import Learned, by_slice
from dovetail.model.shedding import FAR, Picks

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
BySlice = dict[tuple[str, str], Floats]

_FADE = 0.6  # of what an interval says four tenths are new: two intervals outweigh all before
_ENOUGH = 30.0  # results that are kept in mind however long ago they were found
_FEW_LOOKS, _FEW_RESULTS = 30.0, 100.0  # count, however little is new; looks as many as find so many
_CHANGED = 16.0  # squared deviations between what was expected and what was found: something is not as it was
_BINS_PER_SLICE = 4  # a lag is known to a quarter of a slice, finer than what is chosen by it
_MOST_BINS = 2000  # 16 kB per pair of streams
_PRIOR = 1.5  # results that what is expected counts as
_UNLIKELY = 1e-4  # a bin with almost no expected matches must not outweigh all others
_DOUBT = 0.3  # results that a slice counts for as it would on average
_EMPTY = 0.01  # of the average slice: what holds less costs nothing to look through
_MATCH = 30.0  # what a match costs along an index, in tuples scanned


@dataclass(frozen=True)
class Window:
    """One window as seen by one direction: its slices and their scores, those with tuples ranked, its step."""

    edges: Times
    empty: tuple[int, ...]
    ranked: tuple[int, ...]
    step: HarvestStep
    tuples: float
    scores: Floats

    def with_matches(self, factor: float) -> "Window":
        """With so many times as many matches."""
        return replace(self, step=replace(self.step, fanout=factor * self.step.fanout))


class Correlations:
    """Faded sums over all intervals so far."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self.histograms: dict[str, AgeHistogram] = {}
        self._evidence: dict[str, float] = defaultdict(float)
        self._places: dict[tuple[str, str], Floats] = {}
        self._evenly: dict[tuple[str, str], Floats] = {}
        self._tuples: dict[tuple[str, str], Floats] = {}
        self._latest: dict[tuple[str, str], tuple[float, float, Floats]] = {}
        self._promised: BySlice = {}
        self._orders: dict[str, tuple[str, ...]] = {}
        self._came: dict[tuple[str, str], float] = defaultdict(float)
        self._matched: dict[tuple[str, str], float] = defaultdict(float)
        self._together = 1.0  # results that belong together, as those of one arrival do
        self._yields = SliceYields()
        self._pair = len(self._names) == 2

    def learn(
        self,
        learned: Learned,
        edges: Mapping[tuple[str, str], Times],
        orders: Mapping[str, tuple[str, ...]],
        picks: Picks | None = None,
    ) -> None:
        """Another interval; what was matched in another order says little about this one."""
        self._shape(edges)
        self._look_back()
        for arriving, other in edges:
            if self._orders.get(arriving, orders[arriving]) != orders[arriving]:
                self._fade((arriving, other), min(1.0, _FEW_LOOKS / 6 / max(self._looks((arriving, other)), 1.0)))
        self._orders = dict(orders)
        self._learn_ages(learned)
        for direction, counts in learned.tuples.items():
            if learned.arrivals[direction[0]]:
                self._tuples[direction] = counts / learned.arrivals[direction[0]]
        for direction in edges:
            self._learn_matches(direction, learned.came.get(direction, 0.0), learned.matched.get(direction, 0.0))
            pick, looks = (picks or {}).get(direction[0], {}).get(direction[1]), learned.harvested.get(direction)
            if pick is not None and looks is not None:
                self._latest[direction] = *looks, np.array(pick.shares)
        self._learn_slices(learned, edges, picks)

    def _learn_slices(self, learned: Learned, edges: Mapping[tuple[str, str], Times], picks: Picks | None) -> None:
        """What was found in which slice; of two streams by ordinary arrivals as well.

        Of more, what these see of a slice depends on what they look at in all other windows.
        """
        for direction, some in edges.items():
            found, looked = (sums.get(direction, np.zeros(len(some) - 1)) for sums in (learned.places, learned.exposed))
            pick = (picks or {}).get(direction[0], {}).get(direction[1])
            if self._pair and pick is not None and direction in self._tuples:
                more = self._tuples[direction] * learned.others[direction[0]][2]
                looked = by_slice(looked, more * np.array(pick.shares)) if len(more) == len(some) - 1 else looked
                found = by_slice(found, learned.gathered.get(direction, 0 * found))
            self._yields.learn(direction, found, looked, self._together)

    def _look_back(self) -> None:
        """Ordinary arrivals' looks of the interval before count like others, as many as their slices are of all."""
        for direction, (looked, found, shares) in self._latest.items():
            self._learn_matches(direction, looked * _part(self._promised[direction], shares), found)
        self._latest = {}

    def _learn_matches(self, direction: tuple[str, str], came: float, matched: float) -> None:
        known, before = self._looks(direction), self._matched[direction]
        rate = before / known if known else 0.0
        odds = (matched - rate * came) ** 2 / (self._together * max(rate * came, 1.0))
        few = _FEW_LOOKS / max(rate, 1.0 if odds > _CHANGED else 1e-9)
        self._fade(direction, still_counts(known, came, few))
        self._came[direction] += came * self._size(direction)
        self._matched[direction] += matched

    def _fade(self, direction: tuple[str, str], still: float) -> None:
        self._came[direction] *= still
        self._matched[direction] *= still

    def _size(self, direction: tuple[str, str]) -> float:
        """How many tuples a look meets."""
        return max(float(self._tuples[direction].sum()), 1e-9) if direction in self._tuples else 1.0

    def _looks(self, direction: tuple[str, str]) -> float:
        """As many looks into the window as it is now tell what is known."""
        return self._came[direction] / self._size(direction)

    def _learn_ages(self, learned: Learned) -> None:
        fresh = {name: learned.independent(name) for name in self._names}
        still = still_counts(sum(self._evidence.values()), sum(fresh.values()), _FEW_RESULTS, _ENOUGH)
        everybody = sum(fresh.values()) + sum(learned.independent_others(name) for name in self._names)
        if everybody > 0:
            results = sum(learned.results.values()) + sum(each[0] for each in learned.others.values())
            self._together = _FADE * self._together + (1 - _FADE) * max(1.0, float(results) / everybody)
        for name, histogram in self.histograms.items():
            histogram.fade(still)
            for ages in learned.ages.get(name, ()):
                histogram.add(ages)
        for name in self._names:
            self._evidence[name] = still * self._evidence[name] + fresh[name]
        self._places = _added(self._places, learned.places, still)
        self._evenly = _added(self._evenly, {each: _as_many(learned, each) for each in learned.places}, still)

    def _shape(self, edges: Mapping[tuple[str, str], Times]) -> None:
        """Histograms that cover all slices, in bins of one width."""
        first, *others = self._names
        ranges = {name: _reach(edges[name, first], edges[first, name]) for name in others}
        finest = min(int(np.diff(_finite(each)).min(initial=FAR)) for each in edges.values())
        widest = max(high - low for low, high in ranges.values())
        bin_us = max(1, finest // _BINS_PER_SLICE, -(-widest // _MOST_BINS))
        for name, (low, _) in ranges.items():
            known = self.histograms.get(name)
            if known is None or known.bin_us > 2 * bin_us or known.low_us > low:
                self.histograms = {n: AgeHistogram.between(*ranges[n], bin_us) for n in others}
                return

    def window(self, arriving: str, probed: str, edges: Times, scans: bool) -> Window:
        """What an arrival of one stream finds in the window of another."""
        direction = arriving, probed
        counts = self._tuples.get(direction, np.zeros(0))
        tuples = counts if len(counts) == len(edges) - 1 else np.ones(len(edges) - 1)
        full = tuples > _EMPTY * tuples.mean()
        if not full.any():
            even = self._promised[direction] = np.ones(len(edges) - 1)
            fanout = self._fanout(direction, even)
            return Window(
                edges, tuple(range(len(tuples))), (), HarvestStep(fanout, (0.0, 0.0), (0.0, 1.0)), 0.0, 0 * tuples
            )
        scores = self._promised[direction] = self._scores(arriving, probed, edges, tuples, full) * full
        fanout = self._fanout(direction, scores)
        costs = tuples if scans else 0.02 * tuples + _MATCH * fanout * scores / max(scores.sum(), 1e-300)
        places = np.flatnonzero(full)
        ranked = places[rank_slices(costs[full], scores[full])]
        empty = np.flatnonzero(~full)
        step = step_of(fanout, costs[full], scores[full])
        return Window(edges, tuple(empty.tolist()), tuple(ranked.tolist()), step, float(tuples.sum()), scores)

    def _fanout(self, direction: tuple[str, str], scores: Floats) -> float:
        """Matches in the whole window, at most, by those who looked through all of it and those who did so in part."""
        came, matched = self._looks(direction), self._matched[direction]
        looked, found, shares = self._latest.get(direction, (0.0, 0.0, scores))
        if len(shares) == len(scores):
            came, matched = came + looked * _part(scores, shares), matched + found
        above = sqrt(matched * self._together) if self._pair else 0.0  # bounds of several steps would be multiplied
        return (matched + above + 0.5) / (came + 1 / (1 + matched))

    def _scores(self, arriving: str, probed: str, edges: Times, tuples: Floats, full: Flags) -> Floats:
        """Shares of results by slice, for slices as full as they are now: they were learned while windows filled."""
        evenly = self._evenly.get((arriving, probed), np.zeros(0))
        then = evenly if len(evenly) == len(tuples) and evenly.any() else tuples
        known = full & (then > _EMPTY * then.mean())
        even = np.where(known, then, 0.0) / max(then[known].sum(), 1e-300)
        shares = self._shares(arriving, probed, edges, even, known)
        evidence = sum(self._evidence.values())
        expected = (evidence * shares + _DOUBT) / (evidence * even + _DOUBT)
        density = self._yields.density((arriving, probed), expected, tuples)
        promised = np.where(full, density * tuples, 0.0)
        return np.asarray(promised / max(promised.sum(), 1e-300), np.float64)

    def _shares(self, arriving: str, probed: str, edges: Times, even: Floats, full: Flags) -> Floats:
        """Shares of results by slice, as they were found.

        What the histograms say holds for results of all arrivals together. What this stream's own sampled arrivals have
        found counts before it, as far as it cannot be chance: beside the histograms, or beside an even spread if
        that is nearer.
        """
        learned = np.where(full, slice_scores(self.histograms, self._names[0], arriving, probed, edges), 0.0)
        everyone = sum(self._evidence.values())
        expected = _beyond_chance(learned, even, full, everyone)
        places = self._places.get((arriving, probed), np.zeros(0))
        if len(places) != len(even):
            return expected
        own, evidence = np.where(full, places, 0.0), self._evidence[arriving]
        nearer = min((even, expected), key=lambda each: _apart(own, each, full))
        return _beyond_chance(own, nearer, full, evidence)

    def together_with(self, others: Sequence[Mapping[str, Any]]) -> "Correlations":
        """What is known here and elsewhere (as plain values), of the same streams: sums add up.

        How full windows are, and in which order they are looked through, stays this one's own.
        """
        pooled = copy(self)
        for values in others:
            pooled.add(values)
        return pooled

    def add(self, values: Mapping[str, Any]) -> None:
        """Sums that were learned elsewhere."""
        ages = {name: AgeHistogram.from_json(each) for name, each in values["histograms"].items()}
        places, evenly = ({(a, b): numbers(each) for a, b, each in values[part]} for part in ("places", "evenly"))
        came, matched = ({(a, b): finite(each) for a, b, each in values[part]} for part in ("came", "matched"))
        self.histograms = {name: each.plus(ages.get(name)) for name, each in self.histograms.items()}
        self._places, self._evenly = plus(self._places, places), plus(self._evenly, evenly)
        self._evidence = _both(self._evidence, values["evidence"])
        self._came, self._matched = _both(self._came, came), _both(self._matched, matched)
        self._yields = self._yields.plus(values["yields"])

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        pairs = {
            part: [[*direction, value] for direction, value in sums.items()]
            for part, sums in (("came", self._came), ("matched", self._matched))
        }
        return {
            "histograms": {name: histogram.to_json() for name, histogram in self.histograms.items()},
            "tuples": [[*direction, counts.tolist()] for direction, counts in self._tuples.items()],
            "evenly": [[*direction, counts.tolist()] for direction, counts in self._evenly.items()],
            "evidence": dict(self._evidence),
            "yields": self._yields.to_json(),
            "places": [[*direction, counts.tolist()] for direction, counts in self._places.items()],
            **pairs,
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Back from plain values."""
        self.histograms = {name: AgeHistogram.from_json(each) for name, each in values["histograms"].items()}
        self._evidence = defaultdict(float, {name: finite(value) for name, value in values["evidence"].items()})
        self._yields.restore(values.get("yields", []))
        self._places, self._evenly, self._tuples = (
            {(a, b): numbers(counts) for a, b, counts in values[part]} for part in ("places", "evenly", "tuples")
        )
        self._came, self._matched = (
            defaultdict(float, {(a, b): finite(value) for a, b, value in values[part]}) for part in ("came", "matched")
        )


def _part(scores: Floats, shares: Floats) -> float:
    """How much of what is promised lies in these shares of the slices."""
    return float((scores * shares).sum() / max(scores.sum(), 1e-300)) if len(shares) == len(scores) else 0.0


def directions_of(windows: Mapping[str, Sequence[Window]], rates: Mapping[str, float]) -> list[Direction]:
    """The model: one direction per stream."""
    return [Direction(rates[name], tuple(each.step for each in steps)) for name, steps in windows.items()]


def _as_many(learned: Learned, direction: tuple[str, str]) -> Floats:
    """As many results as were found in one direction, spread evenly over the tuples that were looked at."""
    exposed = learned.exposed[direction]
    return np.asarray(exposed * (learned.places[direction].sum() / max(exposed.sum(), 1e-300)), np.float64)


def _both(known: Mapping[Any, float], more: Mapping[Any, float]) -> dict[Any, float]:
    return defaultdict(float, {key: known.get(key, 0.0) + more.get(key, 0.0) for key in known.keys() | more.keys()})


def _added(known: BySlice, fresh: BySlice, still: float) -> BySlice:
    """Both together, the old numbers counting for less."""
    faded = {direction: still * counts for direction, counts in known.items()}
    return faded | {direction: by_slice(faded.get(direction), counts) for direction, counts in fresh.items()}


def _beyond_chance(seen: Floats, expected: Floats, full: Flags, evidence: float) -> Floats:
    """Shares as seen, drawn towards those expected as far as chance alone may have made the difference.

    That is Stein's way: of so much evidence, the sum of (seen - expected)^2 / expected over the slices is by chance
    their number less one; if it is no more than that nothing is known.
    """
    apart = evidence * _apart(seen, expected, full)
    if not apart > 0:
        return expected
    known = max(0.0, 1 - (int(full.sum()) - 1) / apart) * evidence / (evidence + _PRIOR)
    return np.asarray(known * seen / seen.sum() + (1 - known) * expected, np.float64)


def _apart(seen: Floats, expected: Floats, full: Flags) -> float:
    if not seen.sum():
        return 0.0
    return float(((seen / seen.sum() - expected)[full] ** 2 / np.maximum(expected[full], _UNLIKELY)).sum())


def _finite(edges: Times) -> Times:
    return edges[np.abs(edges) < FAR]


def _reach(later: Times, earlier: Times) -> tuple[int, int]:
    """How far a stream's members can lie from the first stream's: behind them by its window, ahead by theirs."""
    ahead, behind = _finite(later), _finite(earlier)
    return min(int(ahead.min()), -int(behind.max())), max(int(ahead.max()), -int(behind.min()))
