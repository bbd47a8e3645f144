"""What leaves memory: the same hash partition of all streams together, or slices at random.

    coordinated    every stream is joined on one attribute: a key's tuples of all streams go together, so that what
                   stays still meets all of its partners. Partitions that left once leave again first.
    random         otherwise: slices (ranges of arrival) of any streams, in an order drawn anew each time

With a share f of k streams in memory an arrival meets f of its results if coordinated, and f^(k-1) of them at random.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial as bound
from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.derive import derive
from dovetail.engine.buffer.window import Window
from dovetail.engine.policies.spill.part import PARTITIONS, place_of
from dovetail.model.expression import Expression, columns_of, streams_of
from dovetail.model.predicate import Equality
from dovetail.model.query import JoinQuery
from dovetail.model.steps import step_of
from dovetail.plan.join_graph import key_classes
from dovetail.plan.physical import Key

Ids = npt.NDArray[np.int64]
_SLICES = 8  # a flush can stop at an eighth of a window
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
        if keys.keys() == set(query.names) and (not query.stepwise or _tied_in_turn(query, keys)):
            return keys
    return None


def _tied_in_turn(query: JoinQuery, keys: Mapping[str, Expression]) -> bool:
    """Whether each stream's own condition compares it with one before: then members agree, whoever is missing."""
    ties = [
        (step_of(each, query.names), {each.left, each.right}) for each in query.predicates if isinstance(each, Equality)
    ]
    return all(
        any((name, {keys[name], keys[other]}) in ties for other in query.names[:at])
        for at, name in enumerate(query.names[1:], 1)
    )


class Coordinated:
    """Partitions of the common key, those first that have left before."""

    def __init__(self, keys: Mapping[str, Expression]) -> None:
        self._keys = keys
        self.order: list[int] = []

    def groups(self, windows: Mapping[str, Window], seed: int) -> Iterator[Group]:
        """What may leave, in that order."""
        ids = {name: np.arange(window.tail, window.end) for name, window in windows.items()}
        found = {
            name: self._partitions(name, bound(windows[name].take, ids=some), len(some)) for name, some in ids.items()
        }
        for number in [*self.order, *(each for each in range(PARTITIONS) if each not in self.order)]:
            group = [Leaving(name, some[found[name] == number], number) for name, some in ids.items()]
            if number not in self.order:
                self.order.append(number)
            if any(len(leaving.ids) for leaving in group):
                yield group

    def _partitions(self, name: str, column: Callable[[str], pa.Array], rows: int) -> Ids:
        return (self._hashes(name, column, rows) >> np.uint64(60)).astype(np.int64)

    def _hashes(self, name: str, column: Callable[[str], pa.Array], rows: int) -> npt.NDArray[np.uint64]:
        """The hash of each tuple's key; equal keys have equal ones in every stream."""
        key = self._keys[name]
        codes, _ = derive(Key((key,)), {(name, each.name): column(each.name) for each in columns_of(key)}, rows)
        hashes: npt.NDArray[np.uint64] = codes.view(np.uint64) * _GOLDEN
        return hashes

    def in_upper_half(self, name: str, rows: pa.RecordBatch, partition: int) -> npt.NDArray[np.bool_]:
        """Which tuples of a partition are in the second of its halves."""
        after = 64 - place_of(partition).bit_length()
        bits = self._hashes(name, rows.column, rows.num_rows) >> np.uint64(after)
        return np.asarray(bits & np.uint64(1), bool)


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


def _slices(window: Window) -> list[Ids]:
    ids = np.arange(window.tail, window.end)
    return [part for part in np.array_split(ids, _SLICES) if len(part)]
