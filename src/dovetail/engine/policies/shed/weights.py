"""How many results each result stands for: of tuples like its members only some were let in, or kept.

    let in     a share of a stream at a time, when tuples are dropped at the door (``KeepLog``)
    kept       a share of the tuples of an age, when memory holds the newest and a sample of the older ones

A result of a tuple of which every second was let in and another of which every tenth is still there stands for 20.
Dropping a tuple loses all of its results at once: the variance is reckoned by tuple.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.marks import Marks
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.policies.shed.estimate import Estimate
from dovetail.engine.policies.shed.keep_log import KeepLog

WHOLE = 1 << 30  # the note of a tuple whose like were all kept: shares are whole parts of it
_NOTE, _UNIT = "stands for", 1024  # weights are kept as whole numbers of 1,024ths

Floats = npt.NDArray[np.float64]


class Weights:
    """What the results of one engine stand for; adds to the variance of its ``estimate``.

    ``like``: of the same tuples, for the results of one query among several, under a ``label``.
    """

    def __init__(
        self, windows: Mapping[str, Window], estimate: Estimate, like: "Weights | None" = None, label: str = ""
    ) -> None:
        self._windows, self.estimate = windows, estimate
        self.logs: dict[str, KeepLog] = {name: KeepLog() for name in windows} if like is None else like.logs
        self.shares: dict[str, Marks] = {} if like is None else like.shares
        self._note_name = f"{_NOTE}{label}"
        for window in windows.values():
            window.keep_note(self._note_name, 0)

    def close(self) -> None:
        """Nobody asks any more."""
        for window in self._windows.values():
            window.drop_note(self._note_name)

    def of(self, results: Partial) -> Floats:
        """One number per result."""
        weights = np.ones(len(results))
        rates = {name: each for name in self._windows if (each := self._rates(name, results.ids[name])) is not None}
        for each in rates.values():
            weights /= each
        for name, each in rates.items():
            self._note(name, results.ids[name], weights, each)
        return weights

    def _rates(self, name: str, ids: Ids) -> Floats | None:
        """Of the tuples like each of these, the share that is here; None: all of them."""
        window, log, marks = self._windows[name], self.logs[name], self.shares.get(name)
        rates = None if log.whole else log.rates(window.times[ids - window.base])
        if marks is None:
            return rates
        shares = marks[ids] / WHOLE
        if rates is None and (shares == 1.0).all():
            return None
        return shares if rates is None else rates * shares

    def _note(self, name: str, ids: Ids, weights: Floats, rates: Floats) -> None:
        """Add to what each tuple's results stand for, and to the variance that dropping tuples like it makes."""
        window = self._windows[name]
        tuples, first, places = np.unique(ids, return_index=True, return_inverse=True)
        note, slots = window.note(self._note_name), tuples - window.base
        before = note[slots] / _UNIT
        after = before + np.bincount(places, weights, len(tuples))
        note[slots] = np.round(after * _UNIT)
        self.estimate.dropping_variance += float(((1 - rates[first]) * (after**2 - before**2)).sum())
