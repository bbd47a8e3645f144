"""How old each member of a result is, in the measure of its stream's window.

    time window    microseconds from the member to the newest member
    row window     how many tuples of its stream (or of its key) came after it, up to the result time; none where the
                   member alone has that time

A member is inside a window of w microseconds if its age is at most w, inside one of n rows if its age is at most n - 1.
"""

from collections.abc import Mapping

import numpy as np

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.row_windows import RowCheck, RowWindowed
from dovetail.engine.kernels.routing import ranks_in_key
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
        counted = (
            self._in_stream(stream, results) if kind.per == "stream" else self._in_key(stream, results, kind.count)
        )
        return np.where(self._check.alone_newest(stream, results), 0, counted)

    def _in_stream(self, stream: str, results: Partial) -> Ids:
        window, ids = self._windows[stream], results.ids[stream]
        times = window.times[window.tail - window.base : window.end - window.base]
        ages: Ids = window.tail + np.searchsorted(times, results.newest, side="right") - 1 - ids
        return ages

    def _in_key(self, stream: str, results: Partial, most: int) -> Ids:
        window, ids = self._windows[stream], results.ids[stream]
        self._rows[stream].leaves(ids)  # links what has come since
        ages = np.empty(len(ids), np.int64)
        ranks_in_key(
            np.ascontiguousarray(ids), results.newest, window.times, window.base, window.end,
            window.note("follower"), most, ages,
        )  # fmt: skip
        return ages
