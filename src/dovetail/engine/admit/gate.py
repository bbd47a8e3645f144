"""The gate: admitted input waits here until its turn has come.

    Sync-Filter     a tuple goes on once no stream can still send an older one: time <= frontier
    row windows     once every row-windowed stream has passed it: time < each of their watermarks
    a CPU budget    once there is time for it: time <= until, which is raised as time is given
    otherwise       at once

What has waited goes on in order of time, ties in order of arrival.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.door import Door
from dovetail.engine.admit.watermarks import Watermarks
from dovetail.engine.block.block import Block
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.pile import Pile
from dovetail.model.order import Adaptive
from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow

Times = npt.NDArray[np.int64]

_FEW = 64  # rows let through together at least: what a call costs is shared by them


class Gate:
    """One pile of waiting rows per stream; ``sync`` may be switched between calls."""

    def __init__(self, query: JoinQuery, doors: Mapping[str, Door]) -> None:
        self._doors = doors
        self._row_windowed = [s.name for s in query.streams if isinstance(s.window, RowWindow)]
        self._ordered = query.order != "none"
        self.sync = query.order == "sync" or isinstance(query.order, Adaptive)
        self.piles = {name: Pile(f"waiting/{name}", door.times_of, BEFORE_ALL) for name, door in doors.items()}
        self._passing: dict[str, tuple[dict[str, pa.Array], Times]] = {}
        self.paced = False
        self.until = AFTER_ALL

    @property
    def mode(self) -> str:
        return "none" if not self._ordered else "sync" if self.sync else "hold"

    @property
    def _waits(self) -> bool:
        return self.sync or bool(self._row_windowed) or self.paced

    def add(self, name: str, columns: dict[str, pa.Array], times: Times) -> None:
        """Admitted rows of one stream, in order of time."""
        if self._waits or self.piles[name]:
            rows = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
            self.piles[name].add(rows, times)
        else:
            self._passing[name] = columns, times

    def release(self, watermarks: Watermarks) -> dict[str, Block]:
        """The blocks whose turn has come."""
        return self.release_until(dict.fromkeys(self.piles, self._limit(watermarks)))

    def release_until(self, limits: Mapping[str, int]) -> dict[str, Block]:
        """The blocks of rows up to these times, each stream's own, and of those that did not have to wait."""
        due, self._passing = self._passing, {}
        for name, pile in self.piles.items():
            rows = pile.release(limits[name])
            if rows is not None:
                columns = dict(zip(rows.schema.names, rows.columns, strict=True))
                due[name] = columns, self._doors[name].times_of(rows)
        blocks = {name: self._doors[name].prepare(*rows) for name, rows in due.items()}
        return {name: block for name, block in blocks.items() if len(block)}

    def _limit(self, watermarks: Watermarks) -> int:
        limit = min(watermarks.frontier if self.sync else AFTER_ALL, self.until)
        return min([limit, *(watermarks[name] - 1 for name in self._row_windowed)])

    def pace(self) -> None:
        """From now on nothing passes before there is time for it; what passed already stays passed."""
        self.paced, self.until = True, max(pile.limit for pile in self.piles.values())

    def open_for(self, rows: int, span_us: int, watermarks: Watermarks) -> bool:
        """Let the oldest so many waiting rows pass, a few or those of one span of time; False if none may go on."""
        if not self.paced or rows < 1:
            return False
        waiting = [pile.times for pile in self.piles.values() if len(pile)]
        if not waiting:
            return False
        times = np.sort(np.concatenate(waiting))
        together = int(np.searchsorted(times, times[0] + span_us, side="right"))
        self.until = max(self.until, int(times[min(rows, max(together, _FEW), len(times)) - 1]))
        limit = self._limit(watermarks)
        return any(pile.earliest(AFTER_ALL) <= limit for pile in self.piles.values() if len(pile))

    @property
    def is_empty(self) -> bool:
        """Whether no row waits."""
        return not any(self.piles.values())

    @property
    def waiting(self) -> int:
        """How many rows wait."""
        return sum(map(len, self.piles.values()))

    def earliest(self, name: str) -> int:
        """The smallest waiting time of a stream."""
        return self.piles[name].earliest(AFTER_ALL)
