"""Ordered results that are still ids: they are merged as ids, and their rows are gathered once, when they leave.

    push of A     results at 3, 5, 9          wait
    push of B     results at 4, 8             wait
    due(8)        3 4 5 8 in order            9 goes on waiting

Ids are good for as long as the windows keep the tuples they name: ``oldest`` tells a window that is about to drop its
expired tuples which of them to keep.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dovetail.engine.block.time_order import places_between
from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.kernels import bounds_of

_MOST_PARTS = 64  # later parts are put together, so that giving out is not a walk over many
_FEW = 4096  # so many are put in order in no time


@dataclass(frozen=True)
class _Part:
    """Results made together, none before ``earliest`` or after ``latest``.

    When some of many must leave before the others they are told apart; the second time the rest is put in order.
    """

    results: Partial
    earliest: int
    latest: int
    in_order: bool = False
    told_apart: bool = False

    def split(self, limit: int) -> tuple["_Part", "_Part"]:
        """Those up to and including this time, and the others; there are some of both."""
        if not self.in_order and not self.told_apart and len(self.results) > _FEW:
            return self._tell_apart(limit)
        results = self.results if self.in_order else _in_order([self])
        cut = int(np.searchsorted(results.newest, limit, side="right"))
        some, rest = results.at(slice(cut)), results.at(slice(cut, None))
        earliest = int(rest.newest[0])
        return _Part(some, self.earliest, limit, in_order=True), _Part(rest, earliest, self.latest, in_order=True)

    def _tell_apart(self, limit: int) -> tuple["_Part", "_Part"]:
        early = self.results.newest <= limit
        some, rest = (_at(self.results, np.flatnonzero(which)) for which in (early, ~early))
        earliest = int(rest.newest.min())
        return _Part(some, self.earliest, limit), _Part(rest, earliest, self.latest, told_apart=True)


class Fresh:
    """Results in a few parts, each in any order."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def __len__(self) -> int:
        return sum(len(part.results) for part in self._parts)

    @property
    def nbytes(self) -> int:
        return sum(part.results.nbytes for part in self._parts)

    @property
    def earliest(self) -> int:
        """None of them is older."""
        return min((part.earliest for part in self._parts), default=AFTER_ALL)

    def add(self, results: Partial) -> None:
        """Results just made, in any order."""
        if len(self._parts) >= _MOST_PARTS:
            self._parts = [_part(_merged(self._parts))]
        self._parts.append(_part(results))

    def due(self, limit: int) -> Partial | None:
        """The results up to and including this time, in order; ties in the order in which they were added."""
        parts, self._parts, leaving = self._parts, [], list[_Part]()
        for part in parts:
            if part.latest <= limit:
                leaving.append(part)
            elif part.earliest > limit:
                self._parts.append(part)
            else:
                some, rest = part.split(limit)
                leaving.append(some)
                self._parts.append(rest)
        return _in_order(leaving) if leaving else None

    def all(self) -> Partial | None:
        """All of them, in order."""
        parts, self._parts = self._parts, []
        return _in_order(parts) if parts else None

    def oldest(self, stream: str, default: int) -> int:
        """The smallest id of a stream that they name."""
        return min((int(part.results.ids[stream].min()) for part in self._parts), default=default)


def _part(results: Partial) -> _Part:
    return _Part(results, *bounds_of(results.newest))


def _merged(parts: list[_Part]) -> Partial:
    results = [part.results for part in parts]
    if len(results) == 1:
        return results[0]
    members = {name: np.concatenate([each.ids[name] for each in results]) for name in results[0].ids}
    newest = np.concatenate([each.newest for each in results])
    return Partial(members, newest, newest)


def _in_order(parts: list[_Part]) -> Partial:
    merged = _merged(parts)
    if all(part.in_order for part in parts) and all(one.latest <= other.earliest for one, other in pairwise(parts)):
        return merged
    earliest, latest = min(part.earliest for part in parts), max(part.latest for part in parts)
    return _chosen(merged, *places_between(merged.newest, earliest, latest))


def _at(results: Partial, places: Ids) -> Partial:
    return _chosen(results, places, results.newest.take(places))


def _chosen(results: Partial, places: Ids, newest: Ids) -> Partial:
    """Those at some places, with these times; a complete result's expiry is of no use any more."""
    return Partial({name: ids.take(places) for name, ids in results.ids.items()}, newest, newest)
