"""What is known about where results lie: histograms, fan-outs and full slices, the latest interval counting most.

From them come the directions of the harvest model (``directions``) and the slices in order of what they promise.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.control.ages import AgeHistogram, slice_scores
from dovetail.control.harvest_model import Direction, Floats, Step, rank_slices, step_of
from dovetail.engine.shed.learned import Learned
from dovetail.model.shedding import FAR

Times = npt.NDArray[np.int64]

_FADE = 0.6
_ENOUGH = 30.0  # results that are kept in mind however long ago they were found
_PRIOR = 10.0  # sampled results that an even spread over the window counts as
_BINS_PER_SLICE = 4
_MOST_BINS = 2000
_EMPTY = 0.01  # of the average slice: what holds less costs nothing to look through
_MATCH = 30.0  # what a match costs along an index, in tuples scanned


@dataclass(frozen=True)
class Window:
    """One window as seen by one direction: its slices, those with tuples ranked, and its step of the model."""

    edges: Times
    empty: tuple[int, ...]
    ranked: tuple[int, ...]
    step: Step
    tuples: float


class Correlations:
    """Faded sums over all intervals so far."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self.histograms: dict[str, AgeHistogram] = {}
        self._tuples: dict[tuple[str, str], Floats] = {}
        self._arrivals: dict[str, float] = defaultdict(float)
        self._orders: dict[str, tuple[str, ...]] = {}
        self._came: dict[tuple[str, str], float] = defaultdict(float)
        self._matched: dict[tuple[str, str], float] = defaultdict(float)

    def learn(
        self, learned: Learned, edges: Mapping[tuple[str, str], Times], orders: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Another interval; what was matched in another order says nothing about this one."""
        self._shape(edges)
        for arriving, other in edges:
            if self._orders.get(arriving, orders[arriving]) != orders[arriving]:
                self._came[arriving, other] = self._matched[arriving, other] = 0.0
        self._orders = dict(orders)
        for name, histogram in self.histograms.items():
            histogram.fade(max(_FADE, min(1.0, _ENOUGH / max(histogram.total, 1.0))))
            for ages in learned.ages.get(name, ()):
                histogram.add(ages)
        for name in self._names:
            self._arrivals[name] = _FADE * self._arrivals[name] + learned.arrivals.get(name, 0.0)
        for direction, counts in learned.tuples.items():
            known = self._tuples.get(direction)
            same = known is not None and len(known) == len(counts)
            self._tuples[direction] = _FADE * known + counts if same and known is not None else counts
        for sums, fresh in ((self._came, learned.came), (self._matched, learned.matched)):
            for direction in edges:
                sums[direction] = _FADE * sums[direction] + fresh.get(direction, 0.0)

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
        tuples = (
            counts / max(self._arrivals[arriving], 1.0) if len(counts) == len(edges) - 1 else np.ones(len(edges) - 1)
        )
        fanout = (self._matched[direction] + 0.5) / (self._came[direction] + 1.0)
        full = tuples > _EMPTY * tuples.mean()
        if not full.any():
            return Window(edges, tuple(range(len(tuples))), (), Step(fanout, (0.0, 0.0), (0.0, 1.0)), 0.0)
        scores = self._scores(arriving, probed, edges, tuples) * full
        costs = tuples if scans else 0.02 * tuples + _MATCH * fanout * scores / max(scores.sum(), 1e-300)
        places = np.flatnonzero(full)
        ranked = places[rank_slices(costs[full], scores[full])]
        empty = np.flatnonzero(~full)
        step = step_of(fanout, costs[full], scores[full])
        return Window(edges, tuple(empty.tolist()), tuple(ranked.tolist()), step, float(tuples.sum()))

    def _scores(self, arriving: str, probed: str, edges: Times, tuples: Floats) -> Floats:
        """Shares of results by slice; what few results say is drawn towards an even spread."""
        known = {name: histogram.total for name, histogram in self.histograms.items()}
        results = min(known[name] for name in (arriving, probed) if name in known)
        learned = slice_scores(self.histograms, self._names[0], arriving, probed, edges)
        learned = learned / learned.sum() if learned.sum() > 0 else learned
        even = tuples / max(tuples.sum(), 1e-300)
        return np.asarray((results * learned + _PRIOR * even) / (results + _PRIOR), np.float64)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        pairs = {
            part: [[*direction, value] for direction, value in sums.items()]
            for part, sums in (("came", self._came), ("matched", self._matched))
        }
        return {
            "histograms": {name: histogram.to_json() for name, histogram in self.histograms.items()},
            "tuples": [[*direction, counts.tolist()] for direction, counts in self._tuples.items()],
            "arrivals": dict(self._arrivals),
            **pairs,
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Back from plain values."""
        self.histograms = {name: AgeHistogram.from_json(each) for name, each in values["histograms"].items()}
        self._tuples = {(a, b): np.array(counts) for a, b, counts in values["tuples"]}
        self._arrivals = defaultdict(float, values["arrivals"])
        self._came = defaultdict(float, {(a, b): value for a, b, value in values["came"]})
        self._matched = defaultdict(float, {(a, b): value for a, b, value in values["matched"]})


def directions_of(windows: Mapping[str, Sequence[Window]], rates: Mapping[str, float]) -> list[Direction]:
    """The model: one direction per stream."""
    return [Direction(rates[name], tuple(each.step for each in steps)) for name, steps in windows.items()]


def _finite(edges: Times) -> Times:
    return edges[np.abs(edges) < FAR]


def _reach(later: Times, earlier: Times) -> tuple[int, int]:
    """How far a stream's members can lie from the first stream's: behind them by its window, ahead by theirs."""
    ahead, behind = _finite(later), _finite(earlier)
    return min(int(ahead.min()), -int(behind.max())), max(int(ahead.max()), -int(behind.min()))
