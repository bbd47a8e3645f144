"""How old each member of a result is, in the measure of its stream's window.

    time window    microseconds from the member to the newest member
    row window     how many tuples of its stream (or of its key) came after it, up to the newest member

A member is inside a window of w microseconds if its age is at most w, inside one of n rows if its age is at most n - 1.
"""

from collections.abc import Mapping

import numpy as np

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.row_windows import RowCheck, RowWindowed
from dovetail.engine.deliver.kernels import ranks_in_key
from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow


class Ages:
    """The ages of the members of results of one query."""

    def __init__(
        self, query: JoinQuery, windows: Mapping[str, Window], rows: Mapping[str, RowWindowed], check: RowCheck
    ) -> None:
        self._query = query
        self._windows = windows
        self._rows = rows
        self._check = check

    def of(self, stream: str, results: Partial) -> Ids:
        """The ages of one stream's members."""
        kind = self._query.stream(stream).window
        if not isinstance(kind, RowWindow):
            window = self._windows[stream]
            ages: Ids = results.newest - window.times[results.ids[stream] - window.base]
            return ages
        # of tuples at the very time of the newest member, those of streams before it in the query are before it
        ties_count = self._check.newest_position(results) > self._query.names.index(stream)
        if kind.per == "stream":
            return self._in_stream(stream, results, ties_count)
        return self._in_key(stream, results, ties_count, kind.count)

    def _in_stream(self, stream: str, results: Partial, ties_count: np.ndarray) -> Ids:
        window, ids = self._windows[stream], results.ids[stream]
        times = window.times[window.tail - window.base : window.end - window.base]
        before = np.searchsorted(times, results.newest, side="left")
        upto = np.searchsorted(times, results.newest, side="right")
        ages: Ids = np.maximum(window.tail + np.where(ties_count, upto, before) - 1 - ids, 0)
        return ages

    def _in_key(self, stream: str, results: Partial, ties_count: np.ndarray, most: int) -> Ids:
        window, ids = self._windows[stream], results.ids[stream]
        self._rows[stream].leaves(ids)  # links what has come since
        ages = np.empty(len(ids), np.int64)
        ranks_in_key(
            np.ascontiguousarray(ids), results.newest, window.times, window.base, window.end,
            window.note("follower"), ties_count, most, ages,
        )  # fmt: skip
        return ages
