"""What an engine sees of its streams: a few additions per block, read now and then, and soon forgotten.

    a block is stored       tuples, distinct keys (a sketch per key), time spent
    a step of its probe     combinations that came, pairs they could form, candidates, matches
    its results             how many

A reading is due when the slowest stream has come a second further (or the fastest three times that), so
that rates are seen at the same point of the streams' taking turns; or after many tuples, but never after a few.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from dovetail.engine.admit.block import Block
from dovetail.engine.admit.watermarks import BEFORE_ALL
from dovetail.engine.buffer.key_sketch import KeySketch
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.probe import Probe
from dovetail.model.statistics import Costs, Statistics, StreamStatistics
from dovetail.observe.recent import Recent
from dovetail.plan.physical import Key, key_text

INTERVAL_US = 1_000_000
_FAR_BEHIND = 3
_FEW_TUPLES, _MANY_TUPLES = 64, 1 << 18


@dataclass
class _Work:
    """What one stream has done since the last reading, and the time it has come to."""

    tuples: int = 0
    blocks: int = 0
    busy: float = 0.0
    insert: float = 0.0
    expiry: float = 0.0
    newest: int = BEFORE_ALL

    def take(self) -> Iterator[tuple[str, float]]:
        """The counters by name; they start again from zero."""
        yield from (("tuples", self.tuples), ("blocks", self.blocks), ("busy", self.busy))
        yield from (("insert", self.insert), ("expiry", self.expiry))
        self.tuples = self.blocks = 0
        self.busy = self.insert = self.expiry = 0.0


class Observed:
    """Running statistics of one engine."""

    def __init__(self, windows: Mapping[str, Window]) -> None:
        self._windows = windows
        self._sums = Recent()
        self._work = {name: _Work() for name in windows}
        self._results = 0
        self._clock = BEFORE_ALL
        self._since = 0
        self._sketches: dict[str, dict[Key, KeySketch]] = {name: {} for name in windows}

    def stored(self, name: str, block: Block, first: int, spent_s: float) -> None:
        """A block has been stored under ids from ``first`` on."""
        for attribute, codes in block.attributes.items():
            if isinstance(attribute, Key):
                self._sketch(name, attribute).note(codes, first)
        self._work[name].insert += spent_s

    def _sketch(self, name: str, key: Key) -> KeySketch:
        sketch = self._sketches[name].get(key)
        if sketch is None:
            sketch = self._sketches[name][key] = KeySketch()
        return sketch

    def joined(self, name: str, block: Block, spent_s: float) -> None:
        """It has probed, and its results have left; ``spent_s`` is the time for all of that."""
        work = self._work[name]
        work.tuples += len(block)
        work.blocks += 1
        work.busy += spent_s
        work.newest = max(work.newest, int(block.times[-1]))
        self._since += len(block)
        if self._clock == BEFORE_ALL:
            self._clock = int(block.times[0])

    def made(self, results: int) -> None:
        """So many results were made."""
        self._results += results

    def expired(self, name: str, spent_s: float) -> None:
        """A window forgot what it may."""
        self._work[name].expiry += spent_s

    @property
    def due(self) -> bool:
        """Whether enough has happened since the last reading."""
        if self._since < _FEW_TUPLES:
            return False
        return self._now() - self._clock >= (INTERVAL_US if self._since < _MANY_TUPLES else 1)

    def _now(self) -> int:
        spoken = [work.newest for work in self._work.values() if work.newest > BEFORE_ALL]
        return max(min(spoken), max(spoken) - _FAR_BEHIND * INTERVAL_US)

    def read(self, probes: Iterable[Probe]) -> None:
        """Take what the counters have gathered, when it is due."""
        now, fresh = self._now(), Counter[Hashable]({"results": self._results})
        for name, work in self._work.items():
            fresh.update({(part, name): amount for part, amount in work.take()})
        for probe in probes:
            for tie, tally in probe.tallies:
                fresh.update({(part, tie): amount for part, amount in tally.take()})
        self._sums.add((now - self._clock) / 1e6, fresh)
        self._clock, self._since, self._results = now, 0, 0

    @property
    def ready(self) -> bool:
        """Whether rates are known: some time has passed between two readings."""
        return self._sums.seconds > 0

    def statistics(self) -> Statistics:
        """What is known now; streams that sent nothing yet have a rate of zero."""
        sums, seconds = self._sums, max(self._sums.seconds, 1e-6)
        tie_sums = [name[1] for name in sums if isinstance(name, tuple) and name[0] == "pairs" and sums[name] > 0]
        return Statistics(
            {name: self._stream(name, seconds) for name in self._windows},
            {key: sketch.estimate(self._windows[name].tail) for name, key, sketch in self._all_sketches()},
            {tie: (sums["matched", tie] + 0.5) / (sums["pairs", tie] + 1) for tie in tie_sums},
            {tie: sums["matched", tie] / max(sums["came", tie], 1e-9) for tie in tie_sums},
            sums["results"] / seconds,
            {name: self._costs(name) for name in self._windows if sums["busy", name] > 0},
        )

    def _all_sketches(self) -> Iterable[tuple[str, str, KeySketch]]:
        for name, sketches in self._sketches.items():
            for key, sketch in sketches.items():
                yield name, key_text(key), sketch

    def _stream(self, name: str, seconds: float) -> StreamStatistics:
        window, blocks = self._windows[name], self._sums["blocks", name]
        block = self._sums["tuples", name] / blocks if blocks else 1.0
        return StreamStatistics(self._sums["tuples", name] / seconds, len(window), max(block, 1.0), window.nbytes)

    def _costs(self, name: str) -> Costs:
        tuples = max(self._sums["tuples", name], 1e-9)
        insert, busy = self._sums["insert", name], self._sums["busy", name]
        return Costs(insert / tuples, max(busy - insert, 0.0) / tuples, self._sums["expiry", name] / tuples)
