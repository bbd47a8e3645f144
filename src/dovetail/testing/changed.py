"""What two queries give together, the second going on from the first, as a slow and obvious program.

The second has other windows. Let a row have *left* at the change if all other streams had come past its time plus its
old window by then.

    pairs of rows that came before the change       results of the old query
    pairs with a row that came after it             results of the new query, unless one of the two had left
    a row that has no partner by this               leaves as the old query says if it had left, else as the new one
                                                    says, though never before the frontier at the change
"""

from collections.abc import Iterator

import pyarrow as pa

from dovetail.model.query import JoinQuery
from dovetail.model.window import TimeWindow
from dovetail.testing.history import History, Tuple
from dovetail.testing.oracle import _table, combinations, preserved, result_time
from dovetail.testing.result import Members, Result
from dovetail.testing.script import Script
from dovetail.testing.unmatched import departure_us
from dovetail.testing.windows import RowCounts

_NEVER = -1 << 62  # a stream that has said nothing


def changed_oracle(old: JoinQuery, new: JoinQuery, before: Script, after: Script) -> pa.Table:
    """All rows of both, in order of result time."""
    return _table(new, sorted(_Change(old, new, before, after).results(), key=lambda each: each.time_us or 0))


class _Change:
    def __init__(self, old: JoinQuery, new: JoinQuery, before: Script, after: Script) -> None:
        self.old, self.new = old, new
        self.past = History.of(old, before)
        self.whole = History.of(new, [*before, *after])
        marks = {name: _NEVER if mark is None else mark for name, mark in self.past.watermarks.items()}
        self.others = {name: min(mark for other, mark in marks.items() if other != name) for name in marks}
        self.frontier = min(marks.values())

    def results(self) -> Iterator[Result]:
        matches = [Result(result_time(members), members) for members in self._matches()]
        if self.new.how in ("inner", "left", "right", "full"):
            yield from matches
        for name in preserved(self.new):
            first: dict[Tuple, int] = {}
            for members in (each.members for each in matches):
                first[members[name]] = min(result_time(members), first.get(members[name], result_time(members)))
            for row in self.whole.tuples[name]:
                if self.new.how == "semi":
                    yield from [Result(first[row], {name: row})] if row in first else []
                elif row not in first:
                    yield Result(self._departure(row), {name: row})

    def _matches(self) -> Iterator[Members]:
        yield from combinations(self.old, self.past, RowCounts(self.old, self.past))
        for members in combinations(self.new, self.whole, RowCounts(self.new, self.whole)):
            rows = members.values()
            if not all(map(self._came_before, rows)) and not any(map(self._had_left, rows)):
                yield members

    def _came_before(self, row: Tuple) -> bool:
        return row.order[2] <= self.past.arrived

    def _had_left(self, row: Tuple) -> bool:
        window = self.old.stream(row.stream).window
        assert isinstance(window, TimeWindow)
        return self._came_before(row) and row.time_us + window.length_us < self.others[row.stream]

    def _departure(self, row: Tuple) -> int:
        left = self._had_left(row)
        query, history = (self.old, self.past) if left else (self.new, self.whole)
        time_us = departure_us(RowCounts(query, history), row)
        assert time_us is not None
        return time_us if left else max(time_us, self.frontier)
