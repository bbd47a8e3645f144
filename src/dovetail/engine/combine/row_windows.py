"""Row windows: a member is inside while the tuple that pushes it out is later than the result time.

    window of 2 rows, S: a1 b3 c4      a1 is pushed out by c4, so it is inside for result times before 4
    window of 1 row,  S: b3 c3         b3 is pushed out at 3: none of time 3 sees it, but an older one still does

The stream's tuples are stored in total order (the gate sees to it), so the tuple that pushes out
tuple ``id`` is ``id + n``; within a key it is the n-th later tuple of that key, found when it arrives.

Tuples of a stream leave in order, but those of a key may stay while many around them have left; once
most of a window has left, what is still inside is stored anew.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from dovetail.engine.block.time_range import NEVER
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.kernels import first_at_least, first_note_from, push_out
from dovetail.engine.kernels.routing import followers_at
from dovetail.model.window import RowWindow
from dovetail.plan.physical import Group, Key

Flags = npt.NDArray[np.bool_]

# Notes about each tuple of a key, and what stands there before it is known.
_LINKS = {"leaves": NEVER, "oldest": -1, "follower": -1, "position": 0}
_SPARE = 4096  # tuples that may have left a small window before it is stored anew; fewer would not be worth the copying


class RowWindowed:
    """When the tuples of one row-windowed stream leave."""

    def __init__(self, window: Window, rows: RowWindow, group: Group | None) -> None:
        self._window = window
        self._count = rows.count
        self._group = group
        self._allowed = _SPARE  # how many tuples it may hold before it is looked at how many are inside
        self._linked = 0  # the id up to which it is known whom each tuple pushes out
        if group is not None:
            for name, fill in _LINKS.items():
                window.keep_note(name, fill)

    def counts_by(self, key: Key) -> bool:
        """Whether tuples that agree on this key, and no others, are counted together."""
        return self._group is not None and set(self._group.expressions) == set(key.expressions)

    def linked(self) -> Ids:
        """By slot, the time at which each tuple of a key is pushed out."""
        assert self._group is not None
        self._link(self._group)
        return self._window.note("leaves")

    def last_sight(self, ids: Ids) -> Ids:
        """The last result time that each tuple can be a member for: before it is pushed out, or its own."""
        times = self._window.times[ids - self._window.base]
        return np.maximum(self.leaves(ids) - 1, times)

    def _link(self, group: Group) -> None:
        """Tuples stored since the last call push out older ones of their key."""
        window, first = self._window, max(self._linked, self._window.tail)
        if first < window.end:
            push_out(
                window.attribute(group), window.times, window.indexes.hashed[group].nexts, window.base, window.tail,
                first, window.end, self._count, *(window.note(name) for name in _LINKS),
            )  # fmt: skip
        self._linked = window.end

    def leaves(self, ids: Ids) -> Ids:
        """The time of the tuple that pushes each one out; NEVER if it has not come."""
        slots = ids - self._window.base
        if self._group is not None:
            return self.linked()[slots]
        pushing = slots + self._count
        times = np.full(len(ids), NEVER, np.int64)
        come = pushing < self._window.end - self._window.base
        times[come] = self._window.times[pushing[come]]
        return times

    def counting(self, count: int) -> "RowWindowed":
        """The same window as a query sees it that counts fewer rows."""
        return self if count == self._count else _Narrower(self, self._window, count, self._group)

    def forget(self, reach: int) -> Ids | None:
        """Drop tuples from the front that no newest member from ``reach`` on can see.

        Returns the tuples still inside if most of the window is not, for ``renew``; None otherwise.
        """
        window = self._window
        if self._group is None:
            start, stop = window.tail - window.base, window.end - window.hidden - window.base
            window.forget(window.base + first_at_least(window.clock, start, stop, reach) - self._count)
            return None
        start, stop = window.tail - window.base, window.end - window.hidden - window.base
        window.forget(window.base + first_note_from(self.linked(), start, stop, reach))
        return self._sparse(reach) if len(window) > self._allowed and not window.hidden else None

    def _sparse(self, reach: int) -> Ids | None:
        """What is still inside, if that is less than half; it looks again once a quarter more came."""
        window = self._window
        ids = window.tail + np.flatnonzero(self.linked()[window.tail - window.base : window.end - window.base] >= reach)
        sparse = len(window) > 2 * len(ids) + _SPARE
        self._allowed = max(2 * len(ids) + _SPARE, (len(ids) if sparse else len(window)) * 5 // 4)
        return ids if sparse else None

    def renew(self, ids: Ids, kept: int) -> None:
        """Store the tuples still inside once more, without those between them; ids from ``kept`` on stay readable."""
        self._window.renew(ids, kept)
        self._unlink()

    def keep_newest(self, tuples: int) -> None:
        """Forget all but the newest tuples, some of which may still be inside."""
        window = self._window
        window.forget(window.end - tuples)
        window.shrink()
        if self._group is not None:
            self._unlink()

    def _unlink(self) -> None:
        """Find out again whom each tuple pushes out: links may lead to tuples that are gone."""
        window, self._linked = self._window, 0
        for name, fill in _LINKS.items():
            window.note(name)[window.tail - window.base : window.end - window.base] = fill


class _Narrower(RowWindowed):
    """The newest so many of a row window: when its tuples leave, and no more."""

    def __init__(self, whole: RowWindowed, window: Window, count: int, group: Group | None) -> None:
        self._whole, self._window, self._count, self._group = whole, window, count, group

    def leaves(self, ids: Ids) -> Ids:
        if self._group is None:
            return super().leaves(ids)
        self._whole.linked()
        left, window = np.full(len(ids), NEVER, np.int64), self._window
        own, follower = np.ascontiguousarray(ids), window.note("follower")
        followers_at(own, window.times, window.base, window.end, follower, self._count, left)
        return left


class RowCheck:
    """The test of complete results."""

    def __init__(self, windows: Mapping[str, Window], windowed: Mapping[str, RowWindowed]) -> None:
        self._windows = windows
        self._windowed = windowed

    def inside(self, results: Partial) -> Partial:
        """Only results whose row-windowed members are inside."""
        if not self._windowed:
            return results
        keep = np.ones(len(results), np.bool_)
        for name, windowed in self._windowed.items():
            pushed_out = windowed.leaves(results.ids[name]) <= results.newest
            if pushed_out.any():
                keep &= ~pushed_out | self.alone_newest(name, results)
        return results.where(keep)

    def alone_newest(self, name: str, results: Partial) -> Flags:
        """Where no member but that of this stream has the result time."""
        alone = np.ones(len(results), np.bool_)
        for other, window in self._windows.items():
            if other != name:
                alone &= window.times[results.ids[other] - window.base] < results.newest
        return alone
