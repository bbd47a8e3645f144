"""Ordered results that are still ids: they are merged as ids, and their rows are gathered once, when they leave.

    push of A     results at 3, 5, 9          wait
    push of B     results at 4, 8             wait
    due(8)        3 4 5 8 in order            9 goes on waiting

Ids are good for as long as the windows keep the tuples they name: ``oldest`` tells a window that is about to drop its
expired tuples which of them to keep.
"""

from dataclasses import dataclass

import numpy as np

from dovetail.engine.buffer.places import places_in_order
from dovetail.engine.combine.kernels import inspect_times
from dovetail.engine.combine.partial import Ids, Partial

_MOST_PARTS = 64


@dataclass(frozen=True)
class _Part:
    """Results made together; put in order once some of them must leave before the others."""

    results: Partial
    earliest: int
    latest: int
    in_order: bool = False

    def split(self, limit: int) -> tuple[Partial, "_Part"]:
        """Those up to and including this time, and the others; there are some of both."""
        results = self.results if self.in_order else _in_order([self.results])
        cut = int(np.searchsorted(results.newest, limit, side="right"))
        rest = results.at(slice(cut, None))
        return results.at(slice(cut)), _Part(rest, int(rest.newest[0]), self.latest, in_order=True)


class Fresh:
    """Results in a few parts, each in any order."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def __len__(self) -> int:
        return sum(len(part.results) for part in self._parts)

    @property
    def nbytes(self) -> int:
        return sum(part.results.nbytes for part in self._parts)

    def add(self, results: Partial) -> None:
        """Results just made, in any order."""
        if len(self._parts) >= _MOST_PARTS:
            self._parts = [_part(_merged([part.results for part in self._parts]))]
        self._parts.append(_part(results))

    def due(self, limit: int) -> Partial | None:
        """The results up to and including this time, in order; ties in the order in which they were added."""
        parts, self._parts, leaving = self._parts, [], []
        for part in parts:
            if part.latest <= limit:
                leaving.append(part.results)
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
        return _in_order([part.results for part in parts]) if parts else None

    def oldest(self, stream: str, default: int) -> int:
        """The smallest id of a stream that they name."""
        return min((int(part.results.ids[stream].min()) for part in self._parts), default=default)


def _part(results: Partial) -> _Part:
    earliest, latest, behind = inspect_times(results.newest)
    return _Part(results, earliest, latest, in_order=not behind)


def _merged(parts: list[Partial]) -> Partial:
    if len(parts) == 1:
        return parts[0]
    members = {name: np.concatenate([part.ids[name] for part in parts]) for name in parts[0].ids}
    newest = np.concatenate([part.newest for part in parts])
    return Partial(members, newest, newest)


def _in_order(parts: list[Partial]) -> Partial:
    merged = _merged(parts)
    places = places_in_order(merged.newest)
    return merged if places is None else _chosen(merged, places)


def _chosen(results: Partial, places: Ids) -> Partial:
    """Some of them; a complete result's expiry is of no use any more."""
    newest = results.newest.take(places)
    return Partial({name: ids.take(places) for name, ids in results.ids.items()}, newest, newest)
