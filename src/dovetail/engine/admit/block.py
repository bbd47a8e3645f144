"""A block: tuples of one stream that passed the door, in order of time, with the numbers kernels compare."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.plan.physical import Attribute

Array = npt.NDArray[Any]
Times = npt.NDArray[np.int64]

ROWS = 1 << 16


@dataclass(frozen=True)
class Block:
    """Columns, event times in microseconds (never falling), attributes, and which tuples can match (None: all)."""

    columns: Mapping[str, pa.Array]
    times: Times
    attributes: Mapping[Attribute, Array]
    eligible: npt.NDArray[np.bool_] | None = None

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
        )


def interleave(blocks: Mapping[str, Block]) -> Iterator[tuple[str, Block, dict[str, int]]]:
    """Cut the blocks of a batch at common times and give the pieces in order of time.

    With each piece comes, for every stream that still has tuples, the time of the next one: until
    then the streams' windows can already forget what no tuple to come can reach.
    """
    pieces = -(-sum(len(block) for block in blocks.values()) // ROWS)
    longest = max(blocks.values(), key=len)
    ends = dict.fromkeys(blocks, 0)
    for piece in range(1, pieces + 1):
        until = longest.times[len(longest) * piece // pieces - 1]
        for name, block in blocks.items():
            start = ends[name]
            stop = len(block) if piece == pieces else int(np.searchsorted(block.times, until, side="right"))
            ends[name] = max(start, stop)
            if stop > start:
                yield name, block.slice(start, stop), _next_times(blocks, ends)


def _next_times(blocks: Mapping[str, Block], ends: Mapping[str, int]) -> dict[str, int]:
    return {name: int(block.times[ends[name]]) for name, block in blocks.items() if ends[name] < len(block)}
