"""What an engine sees of its streams: a few additions per block, read now and then, and soon forgotten.

    a block is stored       distinct keys (a sketch per key), time spent
    it has been joined      tuples, time spent, how far the other streams are ahead
    a step of its probe     combinations that came, matches
    its results             how many

A reading is due when the slowest stream has come a second further (or the fastest three times that), so
that rates are seen at the same point of the streams' taking turns; or after many tuples, but never after a few. If few
blocks came in that second, later readings wait for more, up to two seconds: they share what a reading costs.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dovetail.engine.admit.block import Block
from dovetail.engine.admit.watermarks import BEFORE_ALL
from dovetail.engine.buffer.key_sketch import KeySketch
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.probe import Probe
from dovetail.model.statistics import Costs, Statistics, StreamStatistics
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow
from dovetail.observe.recent import Recent
from dovetail.plan.in_time import met
from dovetail.plan.physical import Key, key_text

INTERVAL_US = 1_000_000
_FAR_BEHIND = 3
_FEW_TUPLES, _MANY_TUPLES = 64, 1 << 18
_FEW_BLOCKS, _MANY_BLOCKS = 4, 8
_PATIENCE_US = 2 * INTERVAL_US


class Seen:
    """Counters of one stream since the last reading; ``leads``: microseconds, added up over its blocks."""

    __slots__ = ("blocks", "busy", "expiry", "insert", "latest", "leads", "sketches", "tuples")

    def __init__(self, others: Iterable[str]) -> None:
        self.leads = dict.fromkeys(others, 0)
        self.latest = BEFORE_ALL
        self.sketches: dict[Key, KeySketch] = {}
        self.tuples = self.blocks = 0
        self.busy = self.insert = self.expiry = 0.0

    def take(self, name: str) -> Iterator[tuple[Hashable, float]]:
        """The counters by name; they start again from zero."""
        yield from ((("tuples", name), self.tuples), (("blocks", name), self.blocks), (("busy", name), self.busy))
        yield from ((("insert", name), self.insert), (("expiry", name), self.expiry))
        yield from ((("lead", name, other), lead / 1e6) for other, lead in self.leads.items())
        self.leads = dict.fromkeys(self.leads, 0)
        self.tuples = self.blocks = 0
        self.busy = self.insert = self.expiry = 0.0


class Observed:
    """Running statistics of one engine."""

    def __init__(self, windows: Mapping[str, Window], streams: Sequence[Stream]) -> None:
        self._windows = windows
        self._widths_s = {s.name: s.window.length_us / 1e6 for s in streams if isinstance(s.window, TimeWindow)}
        self._sums = Recent()
        self._seen = {name: Seen(other for other in windows if other != name) for name in windows}
        self._clock = self._latest = BEFORE_ALL
        self._since = self._blocks = self._results = 0

    def stored(self, name: str, block: Block, first: int, spent_s: float) -> None:
        """A block has been stored under ids from ``first`` on."""
        seen = self._seen[name]
        seen.insert += spent_s
        for attribute, codes in block.attributes.items():
            if isinstance(attribute, Key):
                sketch = seen.sketches.get(attribute)
                if sketch is None:
                    sketch = seen.sketches[attribute] = KeySketch()
                sketch.note(codes, first)

    def joined(self, name: str, block: Block, spent_s: float) -> None:
        """It has probed, and its results have left; ``spent_s`` is the time for all of that."""
        seen, last, count = self._seen[name], int(block.times[-1]), len(block)
        seen.tuples += count
        seen.blocks += 1
        seen.busy += spent_s
        self._since += count
        self._blocks += 1
        for other in seen.leads:
            ahead = self._seen[other].latest
            if ahead > BEFORE_ALL:
                seen.leads[other] += ahead - last
        if last > seen.latest:
            seen.latest = last
            if last > self._latest:
                if self._latest == BEFORE_ALL:
                    self._clock = int(block.times[0])
                self._latest = last

    def made(self, results: int) -> None:
        """So many results were made."""
        self._results += results

    def expired(self, name: str, spent_s: float) -> None:
        """A window forgot what it may."""
        self._seen[name].expiry += spent_s

    @property
    def due(self) -> bool:
        """Whether enough has happened since the last reading."""
        if self._since < _FEW_TUPLES or self._blocks < _FEW_BLOCKS:
            return False
        least = INTERVAL_US if self._blocks >= _MANY_BLOCKS or not self.ready else _PATIENCE_US
        if self._since >= _MANY_TUPLES:
            least = 1
        return self._latest - self._clock >= least and self._now() - self._clock >= least

    def _now(self) -> int:
        spoken = [seen.latest for seen in self._seen.values() if seen.latest > BEFORE_ALL]
        return max(min(spoken), self._latest - _FAR_BEHIND * INTERVAL_US)

    def read(self, probes: Iterable[Probe]) -> None:
        """Take what the counters have gathered, when it is due."""
        now = self._now()
        fresh: dict[Hashable, float] = {"results": self._results}
        for name, seen in self._seen.items():
            fresh.update(seen.take(name))
        self._sums.add((now - self._clock) / 1e6, fresh)
        self._clock = now
        self._since = self._blocks = self._results = 0
        self._sums.also(self._steps(probes))

    def _steps(self, probes: Iterable[Probe]) -> dict[Hashable, float]:
        """What the steps of all probes did, and how many pairs they could have formed with what was in time."""
        known, steps = Statistics(self._streams(), leads=self._leads()), defaultdict[Hashable, float](float)
        for probe in probes:
            for bound, (tie, tally) in enumerate(probe.tallies, start=1):
                came, matched = tally.take()
                if came:
                    steps["came", tie] += came
                    steps["matched", tie] += matched
                    steps["pairs", tie] += came * met(known, probe.arriving, tie[1], bound).in_time
        return steps

    @property
    def ready(self) -> bool:
        """Whether rates are known: some time has passed between two readings."""
        return self._sums.seconds > 0

    def sized(self) -> Statistics:
        """What is known now, with the bytes that windows take."""
        known = self.statistics()
        streams = {n: replace(each, bytes=self._windows[n].nbytes) for n, each in known.streams.items()}
        return replace(known, streams=streams)

    def statistics(self) -> Statistics:
        """What is known now; streams that sent nothing yet have a rate of zero."""
        sums = self._sums
        ties = [name[1] for name in sums if isinstance(name, tuple) and name[0] == "pairs" and sums[name] > 0]
        return Statistics(
            self._streams(),
            dict(self._keys()),
            {tie: (sums["matched", tie] + 0.5) / (sums["pairs", tie] + 1) for tie in ties},
            {tie: sums["matched", tie] / max(sums["came", tie], 1e-9) for tie in ties},
            self._leads(),
            sums["results"] / self._seconds,
            {name: self._costs(name) for name in self._windows if sums["busy", name] > 0},
        )

    @property
    def _seconds(self) -> float:
        return max(self._sums.seconds, 1e-6)

    def _keys(self) -> Iterator[tuple[str, float]]:
        for name, seen in self._seen.items():
            for key, sketch in seen.sketches.items():
                yield key_text(key), sketch.estimate(self._windows[name].tail)

    def _streams(self) -> dict[str, StreamStatistics]:
        return {name: self._stream(name, window) for name, window in self._windows.items()}

    def _stream(self, name: str, window: Window) -> StreamStatistics:
        tuples, blocks = self._sums["tuples", name], self._sums["blocks", name]
        block = max(tuples / blocks, 1.0) if blocks else 1.0
        return StreamStatistics(tuples / self._seconds, len(window), block, window_s=self._widths_s.get(name))

    def _leads(self) -> dict[tuple[str, str], float]:
        """Of streams that have been heard."""
        sums = self._sums
        return {
            (name, other): sums["lead", name, other] / sums["blocks", name]
            for name, seen in self._seen.items()
            for other in seen.leads
            if sums["blocks", name] and sums["blocks", other]
        }

    def _costs(self, name: str) -> Costs:
        tuples = max(self._sums["tuples", name], 1e-9)
        insert, busy = self._sums["insert", name], self._sums["busy", name]
        return Costs(insert / tuples, max(busy - insert, 0.0) / tuples, self._sums["expiry", name] / tuples)
