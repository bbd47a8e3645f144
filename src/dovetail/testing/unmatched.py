"""When a row without a partner comes out: the first moment at which none can come any more.

window 6 s, row at 3         leaves at 9: a partner of time 9 would still have been inside
no window, row at 3          leaves at 3, once all other streams have ended
window 2 rows, S: a1 b3 c4   a1 leaves at 4, pushed out by c4; b3 and c4 leave at the end

The end is not before anything that has come in or out: it is the largest of all event times and of all other result
times. Beside a T of window 6 s with one row at 3 that has no partner either and leaves at 9, b3 and c4 leave at 9.
"""

from collections.abc import Iterable

from dovetail.model.window import TimeWindow
from dovetail.testing.history import History, Tuple
from dovetail.testing.result import Result
from dovetail.testing.windows import RowCounts


def alone(counts: RowCounts, row: Tuple) -> Result:
    """A row that has no partner, which is certain once the other stream has passed its departure.

    In a row window its own stream must have passed it too; without a window, or if it stays, it is certain at the end.
    """
    window, time_us = counts.query.stream(row.stream).window, departure_us(counts, row)
    if time_us is None or (isinstance(window, TimeWindow) and window.unbounded):
        return Result(time_us, {row.stream: row}, ())
    own = {row.stream} if isinstance(window, TimeWindow) else set()
    return Result(time_us, {row.stream: row}, ({name: time_us for name in counts.query.names if name not in own},))


def departure_us(counts: RowCounts, row: Tuple) -> int | None:
    """``time + window``, ``time`` without one; of a row window, when the row is pushed out; None: it stays."""
    window = counts.query.stream(row.stream).window
    if isinstance(window, TimeWindow):
        return row.time_us + (0 if window.unbounded else window.length_us)
    assert window is not None
    later = [other for other in counts.group(row) if other.order > row.order]
    if len(later) >= window.count:
        return later[window.count - 1].time_us
    return None


def end_us(history: History, given: Iterable[int]) -> int:
    """The time of rows that stay to the end; ``given`` are the result times of all others."""
    return max([*given, *(row.time_us for tuples in history.tuples.values() for row in tuples)])
