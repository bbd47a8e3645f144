"""Row groups that a batch need not read: no row of theirs can have a partner, and none is late.

    A   09:00 .. 10:00   10:00 .. 11:00   11:00 .. 12:00      window of A: 5 minutes; delays: none
    B                                     11:02 .. 11:20      B is past 11:20: whatever comes is later

A's first two groups are left out: B has had no row that they could meet, B's rows to come are too late for them, and
with the end of the batch they would be forgotten. How many rows they have and how far they go is told all the same.
Late rows are read: they are counted by how late they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.runtime.files.feed import Piece
from dovetail.runtime.files.near import Near, near
from dovetail.runtime.spark.source.tasks import Unread
from dovetail.runtime.spark.source.work import Input

_BEFORE_ALL = -(1 << 62)  # the watermark of a stream without rows; a window's length can be added without overflow

Work = dict[str, Sequence[Piece]]
Position = Mapping[str, Any]
Between = Mapping[str, tuple[int, int]]


def left_out(inputs: Sequence[Input], work: Work, start: Position, end: Position) -> dict[str, Unread]:
    """Take what need not be read out of the work between two positions; what is told of it."""
    windows = {each.name: each.window_us for each in inputs if each.window_us is not None}
    if any(position[name].get("times") is None for name in windows for position in (start, end)):
        return {}
    delays = {each.name: each.delay_us for each in inputs}
    before, after = (
        {name: _watermark(position[name]["times"], delays[name]) for name in windows} for position in (start, end)
    )
    between = {}
    for name, own_us in windows.items():
        others = min((after[other] for other in windows if other != name), default=_BEFORE_ALL)
        between[name] = before[name], others - own_us
    return _left_out(work, near(windows, {name: end[name]["times"] for name in windows}), between)


def left_out_of_tables(inputs: Sequence[Input], work: Work) -> dict[str, Unread]:
    """The same of tables: no row is late, and no others will come."""
    windows = {each.name: each.window_us for each in inputs if each.window_us is not None}
    spans = {name: [piece.times for piece in work[name] if piece.times is not None] for name in windows}
    told = {name: times for name, times in spans.items() if len(times) == len(work[name])}
    return _left_out(work, near(windows, told), dict.fromkeys(windows, (_BEFORE_ALL, -_BEFORE_ALL)))


def _left_out(work: Work, partners: Mapping[str, Near], between: Between) -> dict[str, Unread]:
    found = {}
    for name, reach in partners.items():
        read, rest = list[Piece](), list[Piece]()
        for piece in work[name]:
            (read if _is_read(piece, reach, *between[name]) else rest).append(piece)
        if rest:
            work[name] = read
            newest = max(piece.times[1] for piece in rest if piece.times)
            found[name] = Unread(sum(piece.rows for piece in rest), newest)
    return found


def _is_read(piece: Piece, partners: Near, watermark: int, forgotten: int) -> bool:
    """Whether a row is late, or would be remembered after the batch, or may have a partner in it or before."""
    if piece.times is None:
        return True
    first, last = piece.times
    return first < watermark or last >= forgotten or partners.meets(first, last)


def _watermark(times: Sequence[Sequence[int]], delay_us: int) -> int:
    return max((last for _, last in times), default=_BEFORE_ALL) - delay_us
