"""A probe in stages: arrivals look through a small window first, are suspended, and go on where they stopped.

    arrival at 100, stages of 10 and 60        stage 0: partners from 90 to 110      stage 1: 40 to 89, and 111 to 160

The stages divide the first step of the probe; each partner found there is followed through all others at once. Partners
stored after an arrival stay unseen by it however late it goes on: they find it themselves, so each result is made once.

    hashed      the chain is walked from its head again, and what earlier stages saw is passed over by its time
    otherwise   two binary searches lead to the tuple at which the stage begins
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.probe import Probe, checked
from dovetail.model.window import RowWindow
from dovetail.model.window import Window as WindowSize
from dovetail.plan.physical import Level

_ALWAYS = 1 << 60  # longer than any window, and sums with a time do not overflow


@dataclass
class Suspended:
    """Arrivals of one stream that go through the stages together; ``ends``: what they see of each other stream."""

    stream: str
    first: int
    last: int
    earliest: int
    ends: Mapping[str, int]
    stage: int = 0


class StagedProbe(Probe):
    """The probe of one arriving stream, one stage at a time."""

    def __init__(
        self,
        arriving: str,
        levels: Sequence[Level],
        windows: Mapping[str, Window],
        widths: Mapping[str, int],
        sizes: Mapping[str, WindowSize | None],
        stages: Sequence[Mapping[str, int]],
    ) -> None:
        super().__init__(arriving, levels, windows, widths)
        self._sizes = sizes
        self._stages = stages

    def stage(self, arrivals: Suspended) -> Iterator[Partial]:
        """The results that the arrivals' next stage adds."""
        start = self._start(arrivals.first, arrivals.last)
        if not len(start):
            return
        with _as_seen(self._windows, arrivals.ends):
            for low, high, least, most in self._ranges(arrivals, start.newest):
                yield from self._first_step(start, low, high, least, most)

    def _ranges(self, arrivals: Suspended, times: Ids) -> Iterator[tuple[Ids, Ids, Ids | int, Ids | int]]:
        """Ranges of times, and of ids, that the stage adds: partners before and partners after the arrivals."""
        first = self.levels[0].stream
        size = self._sizes[first]
        if isinstance(size, RowWindow):
            yield from self._rows(arrivals.stage, times, first, size)
            return
        now = self._stages[arrivals.stage]
        if arrivals.stage == 0:
            yield times - now[first], times + self._own(now), 0, _ALWAYS
            return
        before = self._stages[arrivals.stage - 1]
        if now[first] > before[first]:
            yield times - now[first], times - before[first] - 1, 0, _ALWAYS
        if self._own(now) > self._own(before):
            yield times + self._own(before) + 1, times + self._own(now), 0, _ALWAYS

    def _own(self, stage: Mapping[str, int]) -> int:
        """How far behind a partner the arrivals' own window lets them be; rows are never behind."""
        return _ALWAYS if isinstance(self._sizes[self.arriving], RowWindow) else stage[self.arriving]

    def _rows(self, stage: int, times: Ids, first: str, size: RowWindow) -> Iterator[tuple[Ids, Ids, Ids, Ids]]:
        """The last tuples of the stream before each arrival, counted back; newer ones come first.

        Counted are those before the arrival's time: seen from a newest member later than that, tuples only leave. Rows
        of a key are looked at all at once.
        """
        window = self._windows[first]
        stored = window.times[window.tail - window.base : window.end - window.base]
        if not len(stored):
            return
        before, whole = window.tail + np.searchsorted(stored, times), np.full(len(times), _ALWAYS)
        if size.per == "key":
            if stage == 0:
                yield -whole, whole, np.full(len(times), window.tail), whole
            return
        least = np.maximum(before - self._stages[stage][first], window.tail)
        most = whole if stage == 0 else np.maximum(before - self._stages[stage - 1][first], window.tail)
        some = (least < most) & (least < window.end)
        lows = np.where(some, stored.take(least - window.tail, mode="clip"), _ALWAYS)
        highs = whole if stage == 0 else np.where(some, stored.take(most - 1 - window.tail, mode="clip"), -_ALWAYS)
        yield lows, highs, least, most

    def _first_step(
        self, start: Partial, lows: Ids, highs: Ids, least: Ids | int, most: Ids | int
    ) -> Iterator[Partial]:
        level = self.levels[0]
        window, width = self._windows[level.stream], self._widths[level.stream]
        if not len(window):
            return
        bounded = Partial(start.ids, lows + width, np.minimum(highs, start.expiry))
        for parents, ids in self._steps[0].pieces(bounded):
            keep = np.ones(len(ids), np.bool_) if isinstance(least, int) else (ids >= least[parents])
            if not isinstance(most, int):
                keep &= ids < most[parents]
            for test in (window.seen, window.eligible):
                more = test(ids)
                keep = keep if more is None else keep & more
            yield from self._further(start, level, width, parents[keep], ids[keep])

    def _further(self, start: Partial, level: Level, width: int, parents: Ids, ids: Ids) -> Iterator[Partial]:
        if not len(ids):
            return
        window = self._windows[level.stream]
        longer = checked(level, self._windows, start.extended(level.stream, parents, window, ids, width))
        if len(longer):
            yield from self._extend(1, longer)


@contextmanager
def _as_seen(windows: Mapping[str, Window], ends: Mapping[str, int]) -> Iterator[None]:
    """The windows as they stood when some arrivals were stored."""
    hidden = {name: windows[name].hidden for name in ends}
    try:
        for name, end in ends.items():
            windows[name].hidden = windows[name].end - end
        yield
    finally:
        for name, count in hidden.items():
            windows[name].hidden = count
