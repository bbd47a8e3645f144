"""Keys with more than their share of the rows: their rows get a block of cells instead of one, for as long as they do.

    key 7 from T on, over 4 cells; A is split, B copied; B's window is 10 s

    B's rows of key 7    before T: their own cell     from T on: each of the 4 cells
    A's rows of key 7    before T + 10 s: their own   from T + 10 s on: one of the 4, in turn

T is later than every row dealt out so far, so nothing that is stored moves, and it is rows' own times that decide,
whatever batch brings them. A row of A that is away from its own cell is of time T + 10 s or later, hence each partner
of it is of time T or later and was copied there. Rows of A are in one cell each, so every result meets in exactly one,
and a row without partners knows it. A key that has cooled ends at a later time E in the same way: A's rows from E on
stay in their own cell, and B's are copied until E plus A's window. It is forgotten when no older row can come.

Whoever deals rows out decides before a batch, by a sample of it, and keeps the list with its position in the streams:
a batch that is repeated is dealt out by the list that it was planned with.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.model.query import JoinQuery
from dovetail.model.stamp import check_stamp, stamp
from dovetail.plan.partition_grid import Grid, KeyAxis
from dovetail.plan.split_keys import KeySplit, key_splits
from dovetail.runtime.deal import Integers, Route, Rows, key_codes

FORMAT = 1  # of the keys in a position; a reader of every number stays
SAMPLE_ROWS = 1 << 13  # of a stream and batch: a key of a hundredth of the rows is counted to within a tenth
LEAST_ROWS = 1 << 12  # of all streams' samples: below, batches are so small that cells wait for work anyway
HOT = 2.0  # times the mean load: a cell that one key would bring above it has that key split
COOL = 1.5  # times the mean load: below it a split key is taken back
COOL_BATCHES = 3  # in a row, lest one odd batch end what the next begins again
GAIN = 0.8  # of the load at most must be left to the cells of a block: copies cost everyone


@dataclass(frozen=True)
class HotKey:
    """A key, by its code on an axis, that is split over ``width`` coordinates from a time on, and up to another."""

    axis: int
    code: int
    width: int
    start_us: int
    end_us: int | None = None
    cool: int = 0

    def route(self, split: KeySplit) -> Route:
        """The way of its rows."""
        end = AFTER_ALL if self.end_us is None else self.end_us
        copied, dealt = (self.start_us, end + split.ahead_us), (self.start_us + split.back_us, end)
        return Route(self.axis, self.code, self.width, split.stream, _times(dealt), _times(copied))


def _times(between: tuple[int, int]) -> tuple[int, int]:
    return min(between[0], AFTER_ALL), min(between[1], AFTER_ALL)


@dataclass(frozen=True)
class Sample:
    """Some of the rows that a stream brings: the codes of their keys on the axes it owns, and how many rows all are."""

    rows: int
    codes: Mapping[int, Integers]

    @classmethod
    def of(cls, grid: Grid, rows: Rows, total: int) -> "Sample":
        """Of rows that were drawn from so many."""
        axes = ((number, axis) for number, axis in enumerate(grid.axes) if isinstance(axis, KeyAxis))
        return cls(total, {number: key_codes(axis, rows) for number, axis in axes if rows.stream in axis.keys})

    @classmethod
    def together(cls, samples: "Sequence[Sample]", times: float) -> "Sample":
        """Several as one, that stands for so many times its rows."""
        axes = samples[0].codes if samples else ()
        codes = {axis: np.concatenate([sample.codes[axis] for sample in samples]) for axis in axes}
        return cls(round(sum(sample.rows for sample in samples) * times), codes)

    def heavy(self, axis: int, share: float) -> dict[int, float]:
        """How many rows each key has that has more than a share of them."""
        codes, counts = np.unique(self.codes[axis], return_counts=True)
        part = counts / max(1, len(self.codes[axis]))
        return {int(codes[at]): float(part[at]) * self.rows for at in np.flatnonzero(part > share)}


Samples = Mapping[str, Sample]
Splits = Sequence[KeySplit | None]


@dataclass(frozen=True)
class HotKeys:
    """The keys that are split, the largest time that was dealt out (None: not known), and what each stream is past."""

    newest: int | None = BEFORE_ALL
    past: Mapping[str, int] = field(default_factory=dict)
    keys: tuple[HotKey, ...] = ()

    @classmethod
    def from_json(cls, told: Any) -> "HotKeys":
        """The inverse of ``to_json``; who tells nothing may have dealt out any time."""
        if told is None:
            return cls(None)
        check_stamp("a position with hot keys", told, FORMAT)
        return cls(told["newest"], told["past"], tuple(HotKey(**key) for key in told["keys"]))

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        keys = [asdict(key) for key in self.keys]
        return stamp(FORMAT) | {"newest": self.newest, "past": dict(self.past), "keys": keys}

    def routes(self, splits: Splits) -> tuple[Route, ...]:
        """The ways of their rows."""
        given = ((key, splits[key.axis]) for key in self.keys if key.axis < len(splits))
        return tuple(key.route(split) for key, split in given if split is not None)

    def seen(self, query: JoinQuery, newest: Mapping[str, int | None]) -> "HotKeys":
        """After rows up to these times; one that is not known makes all times possible."""
        largest, past = self.newest, dict(self.past)
        for name, time in newest.items():
            largest = None if largest is None or time is None else max(largest, time)
            if time is not None:
                past[name] = max(past.get(name, BEFORE_ALL), time - query.stream(name).delay_us)
        return replace(self, newest=largest, past=past)

    def frontier(self, query: JoinQuery) -> int:
        """What all streams are past: every watermark is as late, or later."""
        return min(self.past.get(name, BEFORE_ALL) for name in query.names)

    def next(self, query: JoinQuery, grid: Grid, samples: Samples, frontier: int) -> "HotKeys":
        """The keys for a batch of which there are samples, before anything of it is dealt out."""
        if self.newest is None:
            return self
        splits, now = key_splits(query, grid), self.newest + 1
        kept = [key for key in self.keys if not _is_over(key, splits[key.axis], frontier)]
        if sum(len(codes) for sample in samples.values() for codes in sample.codes.values()) < LEAST_ROWS:
            return replace(self, keys=tuple(kept))
        for number, split in enumerate(splits):
            if split is not None:
                loads = Loads.of(number, grid.axes[number].size, split, samples)
                kept = list(_followed(kept, number, loads, now))
        return replace(self, keys=tuple(kept))


def _is_over(key: HotKey, split: KeySplit | None, frontier: int) -> bool:
    return split is None or (key.end_us is not None and key.end_us + split.ahead_us <= frontier)


def _followed(keys: Sequence[HotKey], axis: int, loads: "Loads", now: int) -> Iterator[HotKey]:
    """The keys of all axes after those of one were judged: some end, others begin."""
    for key in keys:
        if key.axis != axis or key.end_us is not None:
            yield key
            continue
        cool = key.cool + 1 if loads.of_key(key.code) < COOL * loads.mean else 0
        yield replace(key, cool=cool, end_us=now if cool >= COOL_BATCHES else None)
    split = {key.code for key in keys if key.axis == axis and key.end_us is None}
    for code in sorted(loads.keys - split):
        width = loads.width(code) if loads.of_key(code) > HOT * loads.mean else None
        if width is not None:
            yield HotKey(axis, code, width, now)


@dataclass(frozen=True)
class Loads:
    """What coordinates of an axis take in: rows of heavy keys, split and copied; of all owners; of all others."""

    size: int
    dealt: Mapping[int, float]
    copied: Mapping[int, float]
    spread: float
    everywhere: float

    @classmethod
    def of(cls, axis: int, size: int, split: KeySplit, samples: Samples) -> "Loads":
        """By samples of a batch."""
        owners = {name: sample for name, sample in samples.items() if axis in sample.codes}
        heavy = {name: sample.heavy(axis, 1 / (4 * size)) for name, sample in owners.items()}
        copied: dict[int, float] = {}
        for name, keys in heavy.items():
            for code, rows in keys.items() if name != split.stream else ():
                copied[code] = copied.get(code, 0.0) + rows
        everywhere = sum(sample.rows for name, sample in samples.items() if name not in owners)
        spread = sum(sample.rows for sample in owners.values())
        return cls(size, heavy.get(split.stream, {}), copied, float(spread), float(everywhere))

    @property
    def keys(self) -> set[int]:
        return {*self.dealt, *self.copied}

    @property
    def mean(self) -> float:
        """Of all coordinates, while no key is split."""
        return self.spread / self.size + self.everywhere

    def _beside(self, code: int) -> float:
        """What a coordinate has of all other keys, if these are spread evenly."""
        return (self.spread - self._rows(code)) / self.size + self.everywhere

    def _rows(self, code: int) -> float:
        return self.dealt.get(code, 0.0) + self.copied.get(code, 0.0)

    def of_key(self, code: int) -> float:
        """Of the coordinate that has all of a key."""
        return self._rows(code) + self._beside(code)

    def width(self, code: int) -> int | None:
        """The fewest coordinates that bring a key's to at most twice the mean; None if splitting it is no gain."""
        dealt, copied, beside = self.dealt.get(code, 0.0), self.copied.get(code, 0.0), self._beside(code)
        for width in range(2, self.size + 1):
            own, mean = dealt / width + copied + beside, (dealt + width * copied) / self.size + beside
            if own <= HOT * mean or width == self.size:
                return width if own <= GAIN * self.of_key(code) else None
        return None
