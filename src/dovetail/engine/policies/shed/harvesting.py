"""A probe that looks through part of the windows only (GrubJoin, window harvesting and window shredding).

    most arrivals      harvest: at every step the chosen slices of that window, by age
    a random few       shred: the first window thinned evenly, all others whole; their results tell where results are

While nothing is left out both look through everything, and the few only tell.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.candidates import Piece
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.probe import Probe
from dovetail.engine.combine.sieve import Chosen, Sieve, Thinned, sifted
from dovetail.engine.combine.store import Store
from dovetail.engine.combine.tally import Tally
from dovetail.engine.policies.shed.policy import ShedPolicy
from dovetail.engine.policies.shed.shedding import Floats, Shedding
from dovetail.model.shedding import Pick
from dovetail.plan.physical import Level


class HarvestingProbe(Probe):
    """The probe of one arriving stream under a CPU budget."""

    def __init__(
        self,
        arriving: str,
        levels: Sequence[Level],
        windows: Mapping[str, Window],
        widths: Mapping[str, int],
        shedding: Shedding,
    ) -> None:
        super().__init__(arriving, levels, windows, widths)
        self._shedding = shedding
        self._sieves: Sequence[Sieve | None] = ()
        self._shares: Sequence[Floats | float] = ()
        self._learned, self._harvested = self._counting, [Tally() for _ in levels]

    def results(self, first: int, last: int) -> Iterator[Partial]:
        """Complete results of the stored tuples with ids first..last-1 that are looked for, in pieces."""
        start = self._start(first, last)
        block = self._shedding.begin(self.arriving, first, last, start.newest)
        if len(start):
            picks = self._shedding.picks(self.arriving)
            if picks is None:
                yield from self._learning(start, None)
            else:
                sampled = block.sampled[start.ids[self.arriving] - first]
                yield from self._harvest(start.at(~sampled), picks)
                yield from self._learning(start.at(sampled), self._thinned(start.newest[sampled]))
        self._shedding.end(block)

    def _harvest(self, start: Partial, picks: Mapping[str, Pick]) -> Iterator[Partial]:
        ranges = {level.stream: picks[level.stream].ranges for level in self.levels}
        if not all(ranges.values()):
            self._shedding.looked(self.levels[0].stream, len(start), 0.0)
        elif len(start):
            self._sieves = [Chosen(ranges[level.stream]) for level in self.levels]
            self._shares = [np.array(picks[level.stream].shares) for level in self.levels]
            self._counting = self._harvested
            yield from self._extend(0, start)
            for level, tally in zip(self.levels, self._harvested, strict=True):
                self._shedding.learned.harvest((self.arriving, level.stream), *tally.drain())

    def _thinned(self, origins: Ids) -> Thinned | None:
        first = self.levels[0].stream
        if not len(origins) or not len(self._windows[first]):
            return None
        edges = self._shedding.finite_edges(self.arriving, first, origins)
        return Thinned(edges, self._shedding.thin, self._shedding.draws("blocks", len(origins), use=1))

    def _learning(self, start: Partial, thinned: Thinned | None) -> Iterator[Partial]:
        """Look through everything, or through everything behind a thinned first window, and learn from it."""
        if not len(start):
            return
        rest = len(self.levels) - 1
        share = 1.0 if thinned is None else thinned.share
        self._sieves, self._shares = [thinned, *[None] * rest], [share, *[1.0] * rest]
        self._counting = self._learned
        before = [(tally.came, tally.matched) for tally in self._learned]
        yield from self._extend(0, start)
        first, came = self._learned[0], before[0][0]
        first.came = came + (first.came - came) * share
        for level, tally, (came, matched) in zip(self.levels, self._learned, before, strict=True):
            direction = self.arriving, level.stream
            self._shedding.learned.step(direction, tally.came - came, tally.matched - matched)

    def _pieces(self, depth: int, partial: Partial) -> Iterator[Piece]:
        level, sieve = self.levels[depth], self._sieves[depth]
        self._shedding.looked(level.stream, len(partial), self._shares[depth])
        step, window = self._steps[depth], self._windows[level.stream]
        if sieve is None:
            return step.pieces(partial)
        own = self._windows[self.arriving]
        origins: Ids = own.times[partial.ids[self.arriving] - own.base]
        return sifted(sieve, step, partial, origins, window, self._widths[level.stream], step.walks)


def probes_of(store: Store, shedding: ShedPolicy) -> dict[str, Probe]:
    """The probe of every arriving stream under the plan in force."""
    levels, windows, widths = store.plan.probes, store.windows, store.widths
    if isinstance(shedding, Shedding):
        return {name: HarvestingProbe(name, levels[name], windows, widths, shedding) for name in windows}
    return {name: Probe(name, levels[name], windows, widths, store.row_windows) for name in windows}
