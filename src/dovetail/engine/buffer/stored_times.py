"""The event times of stored tuples, and the clock that makes them searchable.

    times    3  9  5  7  12
    clock    3  9  9  9  12      the largest time up to each arrival
    slack    4                   how far the worst tuple lies behind its clock (9 - 5)

The clock is sorted whatever the order of arrival. While no tuple is out of order it is the times themselves.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.columns import FixedColumn, Numbers, moved
from dovetail.engine.kernels import bounds_of, running_largest

Times = npt.NDArray[np.int64]


class StoredTimes:
    """Times by slot, in the stream's own time column if it holds microseconds, else in an array of their own."""

    def __init__(self, column: FixedColumn | None) -> None:
        self.column = column
        self._own = Numbers(np.empty(0, np.int64)) if column is None else None
        self._source: Any = self._own if column is None else column
        self._clock: Times | None = None
        self.slack = 0

    @property
    def data(self) -> Times:
        """The times by slot."""
        return self._source.data  # type: ignore[no-any-return]  # microseconds in either

    @property
    def clock(self) -> Times:
        """The largest time up to each slot."""
        return self.data if self._clock is None else self._clock

    @property
    def nbytes(self) -> int:
        """Bytes beside the stream's own column."""
        own = 0 if self._own is None else self._own.data.nbytes
        return own + (0 if self._clock is None else self._clock.nbytes)

    def write(self, times: Times, at: int, capacity: int) -> None:
        """Store the times of a block from slot ``at`` on."""
        if self._own is None:
            self.data[at : at + len(times)] = times
        else:
            self._own.write(times, at, capacity)

    def follow(self, tail: int, start: int, stop: int, in_order: bool) -> None:
        """Tuples were written to slots ``start`` to ``stop``; those before slot ``tail`` have expired."""
        times = self.data
        so_far = int(self.clock[start - 1]) if start > tail else int(times[start])
        if self._clock is None:
            if so_far <= times[start] and (in_order or bounds_of(times[start:stop])[2]):
                return
            self._clock = times.copy()
        running_largest(times, start, stop, self._clock, so_far)
        self.slack = max(self.slack, int((self._clock[start:stop] - times[start:stop]).max()))

    def reset(self) -> None:
        """No tuple is left: the clock starts anew."""
        self._clock, self.slack = None, 0

    def move(self, start: int, stop: int, capacity: int) -> None:
        """Slots ``start`` to ``stop`` to the front of arrays of this capacity; the column moves by itself."""
        if self._own is not None:
            self._own.move(start, stop, capacity)
        if self._clock is not None:
            self._clock = moved(self._clock, start, stop, capacity)
