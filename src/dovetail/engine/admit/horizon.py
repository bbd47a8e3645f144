"""How far ahead of everything seen so far a row may lie: a guard against times that are plainly wrong.

    ahead of 1 h, all streams at 12:00       12:40, 13:30, 14:10, and a row of the year 2100
    up from 12:00 in steps of at most 1 h    12:40, 13:30 and 14:10 come in; the gap behind them cuts off 2100

The times of a batch are told as spans (smallest, largest) with no gap inside that could cut, usually one. So whoever
has only some of the rows, as a bucket on Spark has, comes to the same cut from the spans of all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.block.time_range import AFTER_ALL, NEVER
from dovetail.engine.buffer.section import HeaderSection
from dovetail.model.stream import Stream

Span = tuple[int, int]
Times = npt.NDArray[np.int64]


def smallest_ahead(streams: Sequence[Stream]) -> int | None:
    """The smallest gap that can cut off rows of any stream; None if no stream is guarded."""
    return min((stream.ahead_us for stream in streams if stream.ahead_us is not None), default=None)


def spans_of(times: Times, gap_us: int) -> list[Span]:
    """The times of some rows as spans with a larger gap between them.

    >>> spans_of(np.array([7, 3, 4, 20]), 5)
    [(3, 7), (20, 20)]
    """
    if not len(times):
        return []
    ordered = np.sort(times)
    breaks = np.flatnonzero(np.diff(ordered) > gap_us)
    smallest, largest = ordered[[0, *(breaks + 1)]], ordered[[*breaks, len(ordered) - 1]]
    return list(zip(smallest.tolist(), largest.tolist(), strict=True))


class Horizon(HeaderSection):
    """Where the rows of each stream are cut off; ``reference`` is the largest time that came in or was promised."""

    section = "horizon"

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._ahead = {stream.name: stream.ahead_us for stream in streams if stream.ahead_us is not None}
        self.gap_us = smallest_ahead(streams)
        self._timeless = {stream.name for stream in streams if stream.timeless}
        self.reference: int | None = None

    def promised(self, time: int) -> None:
        """A stream will send nothing older than this; that it sends nothing at all says nothing about time."""
        if time < NEVER:
            self.reference = time if self.reference is None else max(self.reference, time)

    def header(self) -> dict[str, Any]:
        return {"reference": self.reference}

    def restore(self, header: Mapping[str, Any]) -> None:
        reference = header["reference"]
        self.reference = None if reference is None else int(reference)

    def look(self, spans: Mapping[str, Sequence[Span]]) -> tuple[dict[str, int], dict[str, int]]:
        """The largest time that may come in from each guarded stream, and the largest that does from every stream."""
        together = sorted(span for name, own in spans.items() if name not in self._timeless for span in own)
        if not together:
            return {}, {}
        reference = together[0][0] if self.reference is None else self.reference
        farthest = {name: _reached(together, reference, ahead) for name, ahead in self._ahead.items()}
        newest = {}
        for name, own in spans.items():
            inside = [largest for _, largest in own if largest <= farthest.get(name, AFTER_ALL)]
            if inside:
                newest[name] = max(inside)
        self.reference = max([reference, *newest.values()])
        return farthest, newest


def _reached(spans: Sequence[Span], reference: int, ahead: int) -> int:
    """How far one comes from a time in steps that are not longer than ``ahead``."""
    for smallest, largest in spans:
        if smallest - reference > ahead:
            break
        reference = max(reference, largest)
    return reference
