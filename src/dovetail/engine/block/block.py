"""A block: tuples of one stream that passed the door, in order of time, with the numbers kernels compare."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.plan.physical import LARGEST_BLOCK, Attribute

Array = npt.NDArray[Any]
Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Columns, event times in microseconds, attributes, and which tuples can match (None: all).

    Times never fall, unless the block was stored before and comes back.
    """

    columns: Mapping[str, pa.Array]
    times: Times
    attributes: Mapping[Attribute, Array]
    eligible: npt.NDArray[np.bool_] | None = None
    in_order: bool = True

    def __len__(self) -> int:
        return len(self.times)

    def slice(self, start: int, stop: int) -> "Block":
        """Part of the block, without copying."""
        if start == 0 and stop >= len(self):
            return self
        return Block(
            {name: column.slice(start, stop - start) for name, column in self.columns.items()},
            self.times[start:stop],
            {attribute: values[start:stop] for attribute, values in self.attributes.items()},
            None if self.eligible is None else self.eligible[start:stop],
            self.in_order,
        )


def interleave(blocks: Mapping[str, Block], rows: int | None = None) -> Iterator[tuple[str, Block, dict[str, int]]]:
    """Cut the blocks of a batch at common times and give the pieces in order of time.

    A cut comes about every ``rows`` tuples of all streams together, or where a piece would become too large.

    With each piece comes, for every stream that still has tuples, the time of the next one: until
    then the streams' windows can already forget what no tuple to come can reach.
    """
    most = rows or LARGEST_BLOCK * len(blocks)
    if len(blocks) == 1:
        ((name, block),) = blocks.items()
        if len(block.times) <= most:
            yield name, block, {}
            return
    starts = dict.fromkeys(blocks, 0)
    for until in _cuts(blocks, most):
        for name, block in blocks.items():
            start = starts[name]
            stop = len(block) if until is None else int(np.searchsorted(block.times, until, side="right"))
            starts[name] = stop
            if stop > start:
                yield name, block.slice(start, stop), _next_times(blocks, starts)


def _cuts(blocks: Mapping[str, Block], rows: int) -> list[int | None]:
    """The times up to which each piece goes; None for the last."""
    if sum(len(block) for block in blocks.values()) <= rows:
        return [None]
    merged = np.sort(np.concatenate([block.times for block in blocks.values()]), kind="stable")  # runs are merged
    return [*np.unique(merged[rows - 1 : -1 : rows]).tolist(), None]


def _next_times(blocks: Mapping[str, Block], starts: Mapping[str, int]) -> dict[str, int]:
    return {name: int(block.times[starts[name]]) for name, block in blocks.items() if starts[name] < len(block)}
