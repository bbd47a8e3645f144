"""A flushed part: tuples of one stream that left memory together, and what is known of them without reading them.

    arrived 3 3 4 4 4, departed 6      in memory during the epochs 3..5 and 4..5; gone from epoch 6 on
    probes 8                           in a pause at the end of epoch 8, it was joined with all that was in memory

An epoch ends with every flush and every pass over the disk; tuples that are in memory during the same epoch meet there.

Partitions are the first bits of a key's hash: 0 to 15 for four bits, and from 32 on the places in a binary tree of
those that were split further, in which 2n and 2n + 1 are the halves of n, and partition p of the sixteen is at 16 + p.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.header import check_kinds, finite
from dovetail.engine.buffer.window import Window
from dovetail.errors import StateError

EPOCH = "epoch"
PARTITIONS = 16  # into which tuples are flushed; more would make small files, of which a pass reads many
Epochs = npt.NDArray[np.int64]
Runs = tuple[tuple[int, int], ...]  # (how many tuples, their epoch), in order


@dataclass(frozen=True)
class Span:
    """When some tuples of a stream happened, arrived and departed; ``partition`` of their keys, if they share one."""

    earliest: int
    latest: int
    first: int
    last: int
    departed: int = AFTER_ALL
    partition: int | None = None
    probes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Part:
    """Tuples on disk, under a number."""

    number: int
    stream: str
    rows: int
    bytes: int
    runs: Runs
    span: Span
    departures: Runs = ()  # if its tuples left memory at different times; the span has the first of them

    def probed(self, epoch: int) -> "Part":
        """After it was joined with what is in memory at the end of the epoch."""
        return replace(self, span=replace(self.span, probes=(*self.span.probes, epoch)))

    def settled(self) -> "Part":
        """After a pass over everything, when no arrival, departure or probe before it matters any more."""
        last = self.span.last
        span = replace(self.span, first=last, probes=())
        return replace(self, runs=((self.rows, last),), departures=(), span=span)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(values: dict[str, Any]) -> "Part":
        check_kinds(values, _EXAMPLE, "a spilled part")
        probes, partition = tuple(map(int, values["span"]["probes"])), values["span"]["partition"]
        partition = None if partition is None else int(finite(partition, least=0))
        span = Span(**(values["span"] | {"probes": probes, "partition": partition}))
        runs = checked_runs(values["runs"], values["rows"])
        left = values.get("departures")  # a part of an older format left memory at one time
        departures = checked_runs(left, values["rows"]) if left else ()
        return Part(**(values | {"runs": runs, "departures": departures, "span": span}))


# what a stored part looks like
_EXAMPLE: dict[str, Any] = asdict(Part(0, "", 0, 0, (), Span(0, 0, 0, 0))) | {"runs": []}
_EXAMPLE["span"] |= {"probes": []}


def place_of(partition: int) -> int:
    """Where a partition is in the tree of halves."""
    return partition + PARTITIONS if partition < PARTITIONS else partition


def root_of(partition: int) -> int:
    """Which of the sixteen it is, or was split off."""
    place = place_of(partition)
    return place >> (place.bit_length() - PARTITIONS.bit_length())


def share_keys(partitions: Sequence[int]) -> bool:
    """Whether a key can be in all of these: each is the deepest of them, or contains it.

    >>> share_keys([3, 2 * 19 + 1]), share_keys([3, 2 * 20 + 1])
    (True, False)
    """
    places = [place_of(partition) for partition in partitions]
    deepest = max(places, default=1)
    return all(deepest >> (deepest.bit_length() - place.bit_length()) == place for place in places)


def span_in_memory(window: Window) -> Span:
    """What is true of the tuples in a window."""
    start, stop = window.tail - window.base, window.end - window.base
    if start == stop:
        return Span(AFTER_ALL, BEFORE_ALL, 0, 0)
    epochs = window.note(EPOCH)[start:stop]
    return Span(int(window.clock[start]) - window.slack, int(window.clock[stop - 1]), int(epochs[0]), int(epochs[-1]))


def runs_of(epochs: Epochs) -> Runs:
    """Epochs as runs of equal ones.

    >>> runs_of(np.array([3, 3, 4, 3]))
    ((2, 3), (1, 4), (1, 3))
    """
    starts = np.flatnonzero(np.diff(epochs, prepend=-1))
    counts = np.diff(starts, append=len(epochs))
    return tuple(zip(counts.tolist(), epochs[starts].tolist(), strict=True))


def checked_runs(runs: Any, rows: int) -> Runs:
    """Runs that were read back; StateError unless they are epochs of so many tuples."""
    found = tuple((int(count), int(epoch)) for count, epoch in runs)
    if any(count < 0 for count, _ in found) or sum(count for count, _ in found) != rows:
        raise StateError(f"the state tells epochs of {sum(count for count, _ in found)} tuples, and there are {rows}")
    return found


def epochs_of(runs: Runs) -> Epochs:
    """The inverse of ``runs_of``."""
    counts, values = zip(*runs, strict=True) if runs else ((), ())
    return np.repeat(np.array(values, np.int64), np.array(counts, np.int64))


class Leaving:
    """The rows of parts by the time of their newest tuple, for each stream."""

    def __init__(self, parts: Iterable[Part]) -> None:
        found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for part in parts:
            found[part.stream].append((part.span.latest, part.rows))
        self._latest = {name: np.array([latest for latest, _ in sorted(some)]) for name, some in found.items()}
        self._rows = {name: np.cumsum([0, *(rows for _, rows in sorted(some))]) for name, some in found.items()}

    def before(self, name: str, time: int) -> int:
        """The rows of parts that are wholly older than ``time``."""
        return int(self._rows[name][np.searchsorted(self._latest[name], time)]) if name in self._rows else 0

    def rows(self, name: str) -> int:
        """All of them."""
        return int(self._rows[name][-1]) if name in self._rows else 0
