"""The engine's side of a CPU budget: follows a decision about what to leave out, and keeps account of it.

    at the door      each tuple of a stream is let in with the stream's keep rate
    in the probe     ordinary arrivals look through chosen slices, sampled ones evenly through everything
    at the exit      every result counts for as many as it stands for: an estimate of what was missed

It decides nothing: control reads what was learned (``take``) and gives a new ``Shed`` between blocks.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.admit.door import Columns, chosen
from dovetail.engine.admit.gate import Gate
from dovetail.engine.block.block import Block
from dovetail.engine.buffer.header import finite, finite_all
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.section import HeaderSection, Section
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.policies.shed.estimate import Estimate
from dovetail.engine.policies.shed.learned import Learned
from dovetail.engine.policies.shed.query_accounts import QueryAccounts
from dovetail.engine.policies.shed.weights import Weights
from dovetail.model.budget import Budget
from dovetail.model.query import JoinQuery
from dovetail.model.shedding import FAR, SLICES, Pick, Shed, slice_edges
from dovetail.model.window import TimeWindow

_LEAST_THIN = 0.005  # of a window, so that something is learned
_FEWEST = 0.01  # of a stream is always let in: without any, nothing could be said of what is missing
_LEARNED = 1 << 16  # tuples seen before slices are trusted
_SMALL_RUN = 256  # tuples: smaller runs cost more to keep apart than they save
_RECENT = 0.98  # of what was known of arrivals still counts after another block

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Times = npt.NDArray[np.int64]


@dataclass
class Sampling:
    """One block on its way: which of its arrivals are sampled, what each has found, and stands for beyond that."""

    arriving: str
    first: int
    sampled: Flags
    owed: Floats
    found: Floats
    counts: Mapping[str, Floats]
    total_before: float


class Shedding(HeaderSection):
    """What is left out of one engine's work, and what that has cost in results."""

    section = "shedding"
    paced = True

    def __init__(self, windows: Mapping[str, Window], widths: Mapping[str, int | None], budget: Budget) -> None:
        self._windows = windows
        self._widths = widths
        self._sample = budget.settings.sample
        self._slice_us = budget.settings.slice_us
        self.random = np.random.default_rng(0)
        self.decision = Shed()
        self.estimate = Estimate()
        self.weights = Weights(windows, self.estimate)
        self.learned = Learned()
        self.queries = QueryAccounts(windows, self.weights)
        self.counts: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._edges: dict[tuple[str, str], Times] = {}
        self._block: Sampling | None = None
        self._recent = 0.0, 0.0  # results that arrivals of late stand for, and how many arrivals those are

    @property
    def span_us(self) -> int:
        """How much event time to join at a time: half a slice, so that arrivals find ages as they were learned."""
        known = [width for width in self._widths.values() if width is not None]
        return (self._slice_us or min(known) // SLICES) // 2 if known else FAR

    @property
    def thin(self) -> float:
        """How much of their first window sampled arrivals look through."""
        return max(_LEAST_THIN, min(1.0, self.decision.throttle)) if self.decision.picks is not None else 1.0

    def picks(self, arriving: str) -> Mapping[str, Pick] | None:
        """The slices that arrivals of a stream look through; None: all."""
        return None if self.decision.picks is None else self.decision.picks[arriving]

    def horizon(self, name: str) -> int:
        """The age from which on a stream's tuples are not worth keeping."""
        return self.decision.ages.get(name, FAR)

    def let_in(self, name: str, columns: Columns, times: Times, room: int | None) -> tuple[Columns, Times]:
        """The rows of a stream that are not dropped at the door; in a row window all are let in, some marked later."""
        self.counts["arrived"] += len(times)
        if self._widths[name] is None or not len(times):
            return columns, times
        keep = self._drawn(name, times, room)
        return (columns, times) if keep is None else (chosen(columns, keep), times[keep])

    def _drawn(self, name: str, times: Times, room: int | None) -> Flags | None:
        """Which tuples come in; None: all of them."""
        kept = meant = self.decision.kept.get(name, 1.0)
        if room is not None and kept * len(times) > room:
            kept = max(_FEWEST, room / len(times))
        self.weights.logs[name].note(int(times[0]), kept)
        if kept >= 1.0:
            return None
        drawn = self.draws("arrived", len(times), use=2)
        keep: Flags = drawn < kept
        self._drop(name, int((~keep).sum()))
        self.counts["refused"] += int((drawn >= meant).sum())
        return keep

    def draws(self, counter: str, count: int, use: int = 0) -> Floats:
        """Numbers by chance, others for every use; the same ones if a batch is repeated from the state before it."""
        return np.random.default_rng([self.counts[counter], use]).random(count)

    def _drop(self, name: str, tuples: int) -> None:
        self.dropped[name] += tuples
        self.estimate.left_out += tuples

    def marked(self, name: str, block: Block) -> Block:
        """Tuples of a row window are not dropped, for they count; some cannot match."""
        kept = self.decision.kept.get(name, 1.0)
        self.weights.logs[name].note(int(block.times[0]), kept)
        if kept >= 1.0:
            return block
        self.counts["blocks"] += 1
        keep: Flags = self.draws("blocks", len(block)) < kept
        self._drop(name, int((~keep).sum()))
        self.counts["refused"] += int((~keep).sum())
        return replace(block, eligible=keep if block.eligible is None else keep & block.eligible)

    def edges(self, arriving: str, probed: str) -> Times:
        """The ages between which the slices of a window lie, for one kind of arrival."""
        known = self._edges.get((arriving, probed))
        if known is None:
            own, other = self._widths[arriving], self._widths[probed]
            span = self._span(probed) if other is None else other
            known = np.array(slice_edges(own, span, self._slice_us, other is None), np.int64)
            self._edges[arriving, probed] = known
        return known

    def finite_edges(self, arriving: str, probed: str, origins: Times) -> Times:
        """The same, cut off where there are no tuples."""
        edges, window = self.edges(arriving, probed), self._windows[probed]
        live = window.times[window.tail - window.base : window.end - window.base]
        low, high = int(origins[0]) - int(live.max()), int(origins[-1]) - int(live.min()) + 1
        cut = np.unique(np.clip(edges, min(low, high - 1), high))
        return cut if len(cut) > 1 else np.array([low, high], np.int64)

    def _span(self, name: str) -> int:
        window = self._windows[name]
        if not len(window):
            return 1
        clock = window.clock
        return max(1, int(clock[window.end - window.base - 1]) - int(clock[window.tail - window.base]))

    def begin(self, arriving: str, first: int, last: int, origins: Times) -> Sampling:
        """A block is about to probe."""
        self.counts["blocks"] += 1
        sampled: Flags = self.draws("blocks", last - first) < self._telling
        others = [name for name in self._windows if name != arriving]
        middle = int(origins[len(origins) // 2]) if len(origins) else 0
        counts = {name: self._tuples(arriving, name, middle) for name in others} if len(origins) else {}
        owed, found = np.zeros(last - first), np.zeros(last - first)
        self._block = Sampling(arriving, first, sampled, owed, found, counts, self.estimate.total)
        self.learned.arrivals[arriving] += len(origins)
        for name, count in counts.items():
            self.learned.slices((arriving, name), count, len(origins), self.thin * sampled.sum())
        return self._block

    @property
    def _telling(self) -> float:
        """The share of arrivals that tell where results are: while nothing is left out all can, at no cost."""
        return 1.0 if self.decision.picks is None and self.learned.seen < _LEARNED // 2 else self._sample

    def _tuples(self, arriving: str, name: str, origin: int) -> Floats:
        """How many tuples lie in each slice, as seen from one time."""
        window = self._windows[name]
        clock = window.clock[window.tail - window.base : window.end - window.hidden - window.base]
        below = np.searchsorted(clock, origin - self.edges(arriving, name), side="right")
        return (below[:-1] - below[1:]).astype(np.float64)

    def looked(self, stream: str, partials: int, share: Floats | float) -> None:
        """So many partial results looked through this share of a window, or of each of its slices."""
        assert self._block is not None
        counts = self._block.counts[stream]
        whole = float(counts.sum())
        seen = float((counts * share).sum())
        self.counts["compared"] += round(partials * seen)
        self.counts["skipped"] += round(partials * (whole - seen))
        self.estimate.left_out += partials * max(0.0, whole - seen)

    def see(self, results: Partial, places: Ids | None = None) -> None:
        """Results of the block that probes now; of shared queries, each as often as there are queries that get it."""
        block = self._block
        assert block is not None
        arrivals = results.ids[block.arriving] - block.first
        some = self._count(self.estimate, self.weights, block.owed, results)
        for own, account in self.queries.of(results, places):
            self._count(account.estimate, account.weights, account.owed_by(len(block.sampled)), own)
        block.found += np.bincount(arrivals, minlength=len(block.found))
        if self.decision.picks is not None and len(self._windows) == 2 and len(some) < len(results):
            self._gather(results.at(~block.sampled[arrivals]))
        if len(some):
            self._learn(some)

    def _count(self, estimate: Estimate, weights_of: Weights, owed_by: Floats, results: Partial) -> Partial:
        """Count results, and by sampled arrival what they stand for beyond themselves; the results of those."""
        block = self._block
        assert block is not None
        estimate.produced += len(results)
        arrivals = results.ids[block.arriving] - block.first
        weights, whole = weights_of.of(results), self.decision.picks is None
        sampled = block.sampled[arrivals]
        estimate.missed += float((weights[~sampled] - 1).sum())
        some, weights = results.at(sampled), weights[sampled] / self.thin
        owed = weights - 1
        if not whole and len(some):
            estimate.unit = 1 / (self._sample * self.thin)
            owed += ~self._inside(block.arriving, some) * weights * (1 - self._sample) / self._sample
        owed_by += np.bincount(arrivals[sampled], owed, len(owed_by))
        return some

    def end(self, block: Sampling) -> None:
        """It has probed."""
        sampling = self.decision.picks is not None
        self.estimate.add(block.owed, sampling)
        self.queries.end(sampling)
        found, squares, sampled = block.found, block.found**2, block.sampled
        self.learned.sampled(block.arriving, float(found[sampled].sum()), float(squares[sampled].sum()))
        self.learned.others[block.arriving] += found[~sampled].sum(), squares[~sampled].sum(), (~sampled).sum()
        results, arrivals = self._recent
        made = self.estimate.total - block.total_before
        self._recent = _RECENT * results + made, _RECENT * arrivals + len(block.sampled)

    @property
    def per_arrival(self) -> float:
        """How many results an arrival has of late, made or missed."""
        results, arrivals = self._recent
        return results / arrivals if arrivals else 0.0

    def _inside(self, arriving: str, results: Partial) -> Flags:
        """Which results an ordinary arrival would have found."""
        picks = self.picks(arriving)
        assert picks is not None
        origin, inside = self._times(arriving, results), np.ones(len(results), np.bool_)
        for name, pick in picks.items():
            edges = np.array(pick.ranges, np.int64).ravel()
            ages = origin - self._times(name, results)
            inside &= np.searchsorted(edges, ages, side="right") % 2 == 1
        return inside

    def _times(self, name: str, results: Partial) -> Times:
        window = self._windows[name]
        found: Times = window.times[results.ids[name] - window.base]
        return found

    def _learn(self, results: Partial) -> None:
        first, *others = self._windows
        if self.learned.seen < _LEARNED:
            self.learned.seen += len(results)
            since = self._times(first, results)
            for name in others:
                self.learned.ages[name].append(self._times(name, results) - since)
            self._place(results, sampled=True)

    def _gather(self, results: Partial) -> None:
        """What ordinary arrivals found tells as much of the slices that they look through."""
        if self.learned.seen < _LEARNED:
            self.learned.seen += len(results)
            self._place(results, sampled=False)

    def _place(self, results: Partial, sampled: bool) -> None:
        """Count in which slice of each window the arrivals found them."""
        assert self._block is not None
        arriving = self._block.arriving
        origin = self._times(arriving, results)
        for name in self._block.counts:
            edges = self.edges(arriving, name)
            slices = np.clip(
                np.searchsorted(edges, origin - self._times(name, results), side="right") - 1, 0, len(edges) - 2
            )
            counts = np.bincount(slices, minlength=len(edges) - 1).astype(np.float64)
            self.learned.found((arriving, name), counts, sampled)

    def drain(self) -> Learned:
        """What was learned since the last call."""
        learned, self.learned = self.learned, Learned()
        return learned

    def follow(self, decision: Shed, gate: Gate) -> None:
        """Go on with another decision, from the next block on; what waits is thinned like what will come."""
        self.decision = decision
        for name, pile in gate.piles.items():
            if len(pile) and self._widths[name] is not None:
                self._thin(name, pile, decision.kept.get(name, 1.0))
        for name, window in self._windows.items():
            for index in window.indexes.ranked.values():
                index.largest = max(_SMALL_RUN, len(window) // SLICES)
            if len(window):
                self.weights.logs[name].forget(int(window.clock[window.tail - window.base]) - window.slack)
        self._edges.clear()
        for arriving, picks in (decision.picks or {}).items():
            for name, pick in picks.items():
                self._edges[arriving, name] = np.array(pick.edges, np.int64)

    def _thin(self, name: str, pile: Pile, kept: float) -> None:
        log, since = self.weights.logs[name], pile.earliest(FAR)
        if kept < 1.0:
            self._drop(name, pile.thin(lambda times: self.random.random(len(times)) * log.rates(times) < kept))
            log.lower(since, kept)

    def sections(self) -> list[Section]:
        """The account of what was left out."""
        return [self, self.queries]

    def header(self) -> dict[str, Any]:
        return {
            "estimate": self.estimate.to_json(),
            "logs": {name: log.to_json() for name, log in self.weights.logs.items()},
            "counts": dict(self.counts),
            "dropped": dict(self.dropped),
            "recent": self._recent,
        }

    def restore(self, header: Mapping[str, Any]) -> None:
        """What was decided follows with the decision in force."""
        self.estimate.restore(header["estimate"])
        for name, log in header["logs"].items():
            self.weights.logs[name].restore(log)
        self.counts, self.dropped = (
            Counter({name: int(finite(count, least=0)) for name, count in header[part].items()})
            for part in ("counts", "dropped")
        )
        results, arrivals = finite_all(header.get("recent", self._recent), 2, least=0)
        self._recent = results, arrivals


def shedding_of(query: JoinQuery, windows: Mapping[str, Window]) -> Shedding | None:
    """The shedding of a query that has a CPU budget."""
    if query.budget is None or query.budget.cpu is None:
        return None
    widths = {
        s.name: s.window.length_us if isinstance(s.window, TimeWindow) and not s.window.unbounded else None
        for s in query.streams
    }
    return Shedding(windows, widths, query.budget)
