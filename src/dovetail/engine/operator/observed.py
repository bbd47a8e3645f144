"""What an engine sees of its streams: a few additions per block, read now and then, and soon forgotten.

    a block was joined      tuples
    every eighth of these   time spent, also by storing and forgetting; how far the other streams are ahead
    a step of its probe     combinations that came, matches
    its results             how many
    whoever asks            distinct keys (a sketch per key takes in what its window has stored since); how many tuples
                            have the same key, where more than that decides (from a sample of both windows)

A reading is due when the slowest stream has come a second further (or the fastest three times that), so
that rates are seen at the same point of the streams' taking turns; or after many tuples, but never after a few. While
whoever reads finds nothing new in it (``curious`` is False), the next one has three seconds and a dozen blocks to come.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dovetail.engine.block.block import Block
from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.key_sample import alike, sample
from dovetail.engine.buffer.key_sketch import KeySketch
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.probe import Probe
from dovetail.model.expression import streams_of
from dovetail.model.statistics import Costs, Statistics, StreamStatistics, Tie
from dovetail.model.stream import Stream
from dovetail.model.window import length_s
from dovetail.observe.recent import Recent
from dovetail.plan.in_time import met
from dovetail.plan.physical import Key, Level, Option, PairAccess, key_access, key_text

INTERVAL_US = 1_000_000  # of the streams' time: rates of a second are steady and soon known
_FAR_BEHIND = 3  # intervals that the slowest stream may hold readings up
_FEW_TUPLES, _MANY_TUPLES = 64, 1 << 18  # too few to tell a rate from; so many that time need not have passed
_FEW_BLOCKS, _SOME_BLOCKS, _LOOK_EVERY = 4, 12, 8  # blocks between readings; one block in eight is counted in detail
_PATIENCE_US = 3 * INTERVAL_US  # between readings when nothing is in question


_COUNTERS = ("tuples", "blocks", "looks", "looked", "busy", "insert", "expiry")
_counts = attrgetter(*_COUNTERS)


class Seen:
    """Counters of one stream since the last reading; those after ``looks`` are of the blocks looked at closely."""

    __slots__ = (*_COUNTERS, "latest", "leads", "names", "sketches")

    def __init__(self, name: str, others: Iterable[str]) -> None:
        self.leads = dict.fromkeys((("lead", name, other) for other in others), 0)
        self.names = [(counter, name) for counter in _COUNTERS]
        self.latest = BEFORE_ALL
        self.sketches: dict[Key | Option, KeySketch] = {}
        self.tuples = self.blocks = self.looks = self.looked = 0
        self.busy = self.insert = self.expiry = 0.0

    def drain(self) -> dict[tuple[str, ...], float]:
        """The counters by name; they start again from zero."""
        taken: dict[tuple[str, ...], float] = dict(zip(self.names, _counts(self), strict=True))
        taken |= {lead: float(ahead) for lead, ahead in self.leads.items()}
        self.leads = dict.fromkeys(self.leads, 0)
        self.tuples = self.blocks = self.looks = self.looked = 0
        self.busy = self.insert = self.expiry = 0.0
        return taken


class Sums(NamedTuple):
    """Of late: counters by stream, combinations that came to the steps of probes, and matches."""

    counts: Recent
    came: Recent
    matched: Recent


class Observed:
    """Running statistics of one engine."""

    def __init__(self, windows: Mapping[str, Window], streams: Sequence[Stream], every: bool = False) -> None:
        self._windows = windows
        self._widths_s = {stream.name: length_s(stream.window) for stream in streams}
        self._sums = Sums(Recent(), Recent(), Recent())
        self._seen = {name: Seen(name, (other for other in windows if other != name)) for name in windows}
        self._clock = self._latest = self._began = BEFORE_ALL
        self._since = 0
        self._made = 0  # results, up to the last reading
        self.readings = 0
        self.due, self.curious = False, True
        self._look_every = 1 if every else _LOOK_EVERY
        self.closely = dict.fromkeys(windows, True)
        self._levels: Sequence[Level] = ()

    def stored(self, name: str, spent_s: float) -> None:
        """A block has been stored."""
        self._seen[name].insert += spent_s

    def joined(self, name: str, block: Block, spent_s: float) -> None:
        """It has probed, and its results have left; ``spent_s`` is the time for all of that, if it was taken."""
        seen, last, count = self._seen[name], block.times.item(-1), len(block.times)
        seen.tuples += count
        seen.blocks += 1
        self._since += count
        if self.closely[name]:
            self._look(seen, last, count, spent_s)
        self.closely[name] = not seen.blocks % self._look_every
        if last > seen.latest:
            seen.latest = last
            if last > self._latest:
                if self._latest == BEFORE_ALL:
                    self._clock = self._began = int(block.times[0])
                self._latest = last
        least = 1 if self._since >= _MANY_TUPLES else INTERVAL_US if self.curious else _PATIENCE_US
        if self._latest - self._clock >= least:
            self.due = self._is_due(least)

    def _look(self, seen: Seen, last: int, count: int, spent_s: float) -> None:
        """Note also the time spent, and how far the other streams are ahead of a block's last tuple."""
        seen.looks += 1
        seen.looked += count
        seen.busy += spent_s
        for lead in seen.leads:
            ahead = self._seen[lead[2]].latest
            if ahead > BEFORE_ALL:
                seen.leads[lead] += ahead - last

    def expired(self, name: str, spent_s: float) -> None:
        """A window forgot what it may."""
        self._seen[name].expiry += spent_s

    def _is_due(self, least: int) -> bool:
        """Whether enough has happened since the last reading."""
        if self._since < _FEW_TUPLES or self._now() - self._clock < least:
            return False
        blocks = sum(seen.blocks for seen in self._seen.values())
        return blocks >= (_FEW_BLOCKS if self.curious else _SOME_BLOCKS)

    def _now(self) -> int:
        """How far the slowest stream has come of those that have sent anything, if any has."""
        spoken = [seen.latest for seen in self._seen.values() if seen.latest > BEFORE_ALL]
        return max(min(spoken, default=BEFORE_ALL), self._latest - _FAR_BEHIND * INTERVAL_US)

    def read(self, probes: Iterable[Probe], made: int) -> None:
        """Take what the counters have gathered, when it is due; ``made``: results so far."""
        probes = tuple(probes)
        self._levels = [level for probe in probes for level in probe.levels]
        now = self._now()
        passed_s = (now - self._clock) / 1e6
        fresh: dict[tuple[str, ...], float] = {("results",): made - self._made}
        for seen in self._seen.values():
            fresh |= seen.drain()
        self._sums.counts.add(passed_s, fresh)
        taken = [(place, tally.drain()) for probe in probes for place, tally in probe.tallies if tally.came]
        self._sums.came.add(passed_s, {place: came for place, (came, _) in taken})
        self._sums.matched.add(passed_s, {place: matched for place, (_, matched) in taken})
        self._clock = now
        self._since, self._made = 0, made
        self.readings += 1
        self.due = False
        self.closely = dict.fromkeys(self.closely, True)

    @property
    def ready(self) -> bool:
        """Whether rates are known: some time has passed between two readings."""
        return self._sums.counts.seconds > 0

    def sized(self) -> Statistics:
        """What is known now, with the bytes that windows take."""
        known = self.statistics()
        streams = {n: replace(each, bytes=self._windows[n].nbytes) for n, each in known.streams.items()}
        return replace(known, streams=streams)

    def startle(self) -> None:
        """The streams are not what they were: forget sooner what was seen of them."""
        for sums in self._sums:
            sums.renew()

    def glance(self) -> Statistics:
        """What is known at once: rates, windows, and how many tuples each step of a probe meets."""
        came, matched = defaultdict[Tie, float](float), defaultdict[Tie, float](float)
        for place, count in self._sums.came.items():
            came[place.tie] += count
            matched[place.tie] += self._sums.matched[place]
        fanouts = {tie: matched[tie] / came[tie] for tie in came}
        return Statistics(self._streams(), fanouts=fanouts, seen_s=(self._now() - self._began) / 1e6)

    def statistics(self) -> Statistics:
        """What is known now; streams that sent nothing yet have a rate of zero."""
        known, sums = replace(self.glance(), leads=self._leads()), self._sums.counts
        matched, pairs = defaultdict[Tie, float](float), defaultdict[Tie, float](float)
        for place, came in self._sums.came.items():
            matched[place.tie] += self._sums.matched[place]
            pairs[place.tie] += came * met(known, place.arriving, place.tie[1], place.bound).in_time
        return replace(
            known,
            keys=dict(self._keys()),
            alike=dict(self._alike()),
            selectivities={tie: (matched[tie] + 0.5) / (pairs[tie] + 1) for tie in pairs if pairs[tie] > 0},
            output_rate=sums["results",] / self._seconds,
            costs={name: self._costs(name) for name in self._windows if sums["busy", name] > 0},
        )

    @property
    def _seconds(self) -> float:
        return max(self._sums.counts.seconds, 1e-6)

    def _keys(self) -> Iterator[tuple[str, float]]:
        for name, window in self._windows.items():
            for key in (each for each in window.storage.attributes if isinstance(each, Key | Option)):
                sketch = self._seen[name].sketches.setdefault(key, KeySketch())
                sketch.follow(window.attribute(key), window.base, window.tail, window.end)
                yield key_text(key), sketch.estimate(window.tail)

    def _alike(self) -> Iterator[tuple[Tie, float]]:
        """Of steps whose key leaves something to be decided, and whose key comes from one stream."""
        for level in {level.tie: level for level in self._levels}.values():
            access = key_access(level.access)
            if access is None or not (level.checks or isinstance(level.access, PairAccess)):
                continue
            names = {name for expression in access.bound for name in streams_of(expression)}
            sides = [(level.stream, access.own), *((name, Key(access.bound)) for name in names)]
            if len(names) == 1 and all(key in self._windows[name].storage.attributes for name, key in sides):
                yield level.tie, alike(*(self._sample(name, key) for name, key in sides))

    def _sample(self, name: str, key: Key) -> npt.NDArray[np.int64]:
        window = self._windows[name]
        return sample(window.attribute(key)[window.tail - window.base : window.end - window.base])

    def _streams(self) -> dict[str, StreamStatistics]:
        return {name: self._stream(name, window) for name, window in self._windows.items()}

    def _stream(self, name: str, window: Window) -> StreamStatistics:
        tuples, blocks = self._sums.counts["tuples", name], self._sums.counts["blocks", name]
        block = max(tuples / blocks, 1.0) if blocks else 1.0
        return StreamStatistics(tuples / self._seconds, len(window), block, window_s=self._widths_s[name])

    def _leads(self) -> dict[tuple[str, str], float]:
        """Of streams that have been heard."""
        sums = self._sums.counts
        return {
            (name, other): sums[lead, name, other] / 1e6 / sums["looks", name]
            for seen in self._seen.values()
            for lead, name, other in seen.leads
            if sums["looks", name] and sums["blocks", other]
        }

    def _costs(self, name: str) -> Costs:
        sums, looked = self._sums.counts, max(self._sums.counts["looked", name], 1e-9)
        insert, busy = sums["insert", name] / looked, sums["busy", name] / looked
        return Costs(insert, max(busy - insert, 0.0), sums["expiry", name] / looked)
