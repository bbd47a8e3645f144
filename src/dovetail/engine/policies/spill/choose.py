"""What leaves memory: the same hash partition of all streams together, or slices at random.

    coordinated    every stream is joined on one attribute: a key's tuples of all streams go together, so that what
                   stays still meets all of its partners. Partitions that left once leave again first.
    random         otherwise: slices (ranges of arrival) of any streams, in an order drawn anew each time

With a share f of k streams in memory an arrival meets f of its results if coordinated, and f^(k-1) of them at random.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from dovetail.engine.admit.derive import derive
from dovetail.engine.buffer.window import Window
from dovetail.model.expression import Expression, columns_of, streams_of
from dovetail.model.query import JoinQuery
from dovetail.plan.join_graph import key_classes
from dovetail.plan.physical import Key

Ids = npt.NDArray[np.int64]
PARTITIONS = 16
_SLICES = 8
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Leaving:
    """Tuples of one stream that should leave, and their partition if they share one."""

    stream: str
    ids: Ids
    partition: int | None = None


Group = list[Leaving]  # what leaves together or not at all


def star_keys(query: JoinQuery) -> dict[str, Expression] | None:
    """The one attribute that all streams are joined on, as each stream has it; None if there is none."""
    for group in key_classes(query.predicates):
        keys = {name: expression for expression in reversed(group) for name in streams_of(expression)}
        if keys.keys() == set(query.names):
            return keys
    return None


class Coordinated:
    """Partitions of the common key, those first that have left before."""

    def __init__(self, keys: Mapping[str, Expression]) -> None:
        self._keys = keys
        self.order: list[int] = []

    def groups(self, windows: Mapping[str, Window], seed: int) -> Iterator[Group]:
        """What may leave, in that order."""
        ids = {name: np.arange(window.tail, window.end) for name, window in windows.items()}
        found = {name: partitions(self._keys[name], name, windows[name], some) for name, some in ids.items()}
        for number in [*self.order, *(each for each in range(PARTITIONS) if each not in self.order)]:
            group = [Leaving(name, some[found[name] == number], number) for name, some in ids.items()]
            if number not in self.order:
                self.order.append(number)
            if any(len(leaving.ids) for leaving in group):
                yield group


class AtRandom:
    """Slices of all streams, shuffled; the same ones for the same seed."""

    order: list[int]

    def __init__(self) -> None:
        self.order = []

    def groups(self, windows: Mapping[str, Window], seed: int) -> Iterator[Group]:
        """What may leave, in that order."""
        slices = [Leaving(name, ids) for name, window in windows.items() for ids in _slices(window)]
        Random(seed).shuffle(slices)
        return iter([[leaving] for leaving in slices])


Choice = Coordinated | AtRandom


def choice_of(query: JoinQuery) -> Choice:
    """Coordinated where the join graph is a star on one attribute."""
    keys = star_keys(query)
    return AtRandom() if keys is None else Coordinated(keys)


def partitions(key: Expression, name: str, window: Window, ids: Ids) -> Ids:
    """The partition of each tuple, by the hash of its key; equal keys have equal ones in every stream."""
    columns = {(name, column.name): window.take(column.name, ids) for column in columns_of(key)}
    codes, _ = derive(Key((key,)), columns, len(ids))
    return ((codes.view(np.uint64) * _GOLDEN) >> np.uint64(60)).astype(np.int64)


def _slices(window: Window) -> list[Ids]:
    ids = np.arange(window.tail, window.end)
    return [part for part in np.array_split(ids, _SLICES) if len(part)]
