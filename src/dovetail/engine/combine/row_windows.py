"""Row windows: a member is inside while the tuple that pushes it out is later than the result time.

    window of 2 rows, S: a1 b3 c4      a1 is pushed out by c4, so it is inside for result times before 4
    window of 1 row,  S: b3 c3         b3 is pushed out at 3: no other tuple of time 3 sees it, but an older one still does

The stream's tuples are stored in total order (the gate sees to it), so the tuple that pushes out
tuple ``id`` is ``id + n``; within a key it is the n-th later tuple of that key, found when it arrives.

Tuples of a stream leave in order, but those of a key may stay while many around them have left; once
most of a window has left, what is still inside is stored anew.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from dovetail.engine.admit.watermarks import NEVER
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.kernels import first_at_least, push_out
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.model.window import RowWindow
from dovetail.plan.physical import Group

Flags = npt.NDArray[np.bool_]

# Notes about each tuple of a key, and what stands there before it is known.
_LINKS = {"leaves": NEVER, "oldest": -1, "follower": -1, "position": 0}
_SPARE = 4096


class RowWindowed:
    """When the tuples of one row-windowed stream leave."""

    def __init__(self, window: Window, rows: RowWindow, group: Group | None) -> None:
        self._window = window
        self._count = rows.count
        self._group = group
        self._linked = 0  # the id up to which it is known whom each tuple pushes out
        if group is not None:
            for name, fill in _LINKS.items():
                window.keep_note(name, fill)

    def _link(self, group: Group) -> None:
        """Tuples stored since the last call push out older ones of their key."""
        window, first = self._window, max(self._linked, self._window.tail)
        if first < window.end:
            push_out(
                window.attribute(group), window.times, window.hashed[group].nexts, window.base, window.tail,
                first, window.end, self._count, *(window.note(name) for name in _LINKS),
            )  # fmt: skip
        self._linked = window.end

    def leaves(self, ids: Ids) -> Ids:
        """The time of the tuple that pushes each one out; NEVER if it has not come."""
        slots = ids - self._window.base
        if self._group is not None:
            self._link(self._group)
            return self._window.note("leaves")[slots]
        pushing = slots + self._count
        times = np.full(len(ids), NEVER, np.int64)
        come = pushing < self._window.end - self._window.base
        times[come] = self._window.times[pushing[come]]
        return times

    def forget(self, reach: int) -> None:
        """Drop tuples from the front that no newest member from ``reach`` on can see."""
        window = self._window
        if self._group is None:
            start, stop = window.tail - window.base, window.end - window.hidden - window.base
            window.forget(window.base + first_at_least(window.clock, start, stop, reach) - self._count)
        else:
            self._link(self._group)
            stop = window.end - window.hidden - window.base
            waiting = window.note("leaves")[window.tail - window.base : stop] >= reach
            ids = window.tail + np.flatnonzero(waiting)
            window.forget(int(ids[0]) if len(ids) else window.base + stop)
            if len(window) > 2 * len(ids) + _SPARE and not window.hidden:
                self._renew(ids)

    def _renew(self, ids: Ids) -> None:
        window = self._window
        window.renew(ids)
        for name, fill in _LINKS.items():
            window.note(name)[window.tail - window.base : window.end - window.base] = fill


class RowCheck:
    """The test of complete results."""

    def __init__(self, windows: Mapping[str, Window], windowed: Mapping[str, RowWindowed]) -> None:
        self._windows = windows
        self._windowed = windowed

    def inside(self, results: Partial) -> Partial:
        """Only results whose row-windowed members are inside."""
        if not self._windowed:
            return results
        sharing = self._sharing(results)
        keep = np.ones(len(results), np.bool_)
        for name, windowed in self._windowed.items():
            pushed_out = windowed.leaves(results.ids[name]) <= results.newest
            keep &= ~pushed_out | self._has_result_time(name, results) & (sharing == 1)
        return results.where(keep)

    def alone_newest(self, name: str, results: Partial) -> Flags:
        """Where the member of this stream is the only one that has the result time."""
        return self._has_result_time(name, results) & (self._sharing(results) == 1)

    def _sharing(self, results: Partial) -> Ids:
        """How many members have the result time."""
        sharing = np.zeros(len(results), np.int64)
        for name in self._windows:
            sharing += self._has_result_time(name, results)
        return sharing

    def _has_result_time(self, name: str, results: Partial) -> Flags:
        window = self._windows[name]
        has: Flags = window.times[results.ids[name] - window.base] == results.newest
        return has
