"""Which stream's rows of a hot key are split, on which axis of the grid, and why those of some queries are not.

A.k = B.k, inner              rows of A are dealt out over several cells, rows of B copied to all of these
A LEFT JOIN B                 A: a row of the preserved stream, and all partners of it, must be in one cell
A FULL JOIN B                 neither: rows of both streams come out by themselves
"""

from dataclasses import dataclass

from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow, TimeWindow
from dovetail.plan.partition_grid import Axis, Grid, KeyAxis

FEWEST = 3  # coordinates: of two, none can have more than twice the mean


@dataclass(frozen=True)
class KeySplit:
    """The stream that is split, the longest window of those that are copied, and its own.

    A partner of a row of time t has a time between t - ``back_us`` and t + ``ahead_us``.
    """

    stream: str
    back_us: int
    ahead_us: int


def key_splits(query: JoinQuery, grid: Grid) -> tuple[KeySplit | None, ...]:
    """For each axis of a grid, how a hot key is split on it; None: not at all.

    It follows from what no run over the same state may change, so that rows of keys that were split are still found.
    """
    return tuple(None if _why_whole(query) else _split_on(query, axis) for axis in grid.axes)


def splits_keys(query: JoinQuery, grid: Grid) -> bool:
    """Whether keys become split while it runs."""
    return why_unsplit(query) is None and any(key_splits(query, grid))


def why_unsplit(query: JoinQuery) -> str | None:
    """Why no key of a query becomes split, whatever its grid; None if some may."""
    if any(stream.match is not None for stream in query.streams):
        return "which row is the best is judged among all rows of a key"
    if any(stream.dedup is not None for stream in query.streams):
        return "repeats must meet in one cell"
    if query.budget is not None:
        return "a budget sheds and spills by cell"
    if any(stream.ahead_us is not None for stream in query.streams):
        return "how far a stream has come is judged with rows that lie too far ahead left out"
    return _why_whole(query)


def _why_whole(query: JoinQuery) -> str | None:
    if query.how == "full":
        return "rows of both streams may come out by themselves, so neither can be copied"
    if query.stepwise:
        return "rows of several streams may come out without partners"
    if query.answered is not None or any(stream.table is not None for stream in query.streams):
        return "which row is the best is judged among all rows of a key"
    if query.aggregation is not None:
        return "a group of its aggregates must be whole in one cell"
    if query.late == "divert":
        return "a late row that is copied would be diverted several times"
    return None


def _split_on(query: JoinQuery, axis: Axis) -> KeySplit | None:
    if not isinstance(axis, KeyAxis) or axis.size < FEWEST:
        return None
    alone = query.names[:1] if query.how == "semi" else query.preserved
    owners = [query.stream(name) for name in query.names if name in axis.keys]
    spans = {s.name: s.window.length_us for s in owners if isinstance(s.window, TimeWindow) and not s.window.unbounded}
    if any(stream.expiry is not None for stream in owners) or len(owners) < 2 or len(spans) < len(owners):
        return None
    split = alone[0] if alone else owners[0].name
    return KeySplit(split, max(span for name, span in spans.items() if name != split), spans[split])


def why_no_split(query: JoinQuery, grid: Grid) -> str | None:
    """Why a hot key stays in one cell; None if it is split, or if the grid has too few cells, or hashes no keys."""
    if not any(isinstance(axis, KeyAxis) and axis.size >= FEWEST for axis in grid.axes):
        return None
    if why_unsplit(query) is not None or splits_keys(query, grid):
        return why_unsplit(query)
    if any(isinstance(stream.window, RowWindow) for stream in query.streams):
        return "a window counts the rows of a key"
    if any(stream.expiry is not None for stream in query.streams):
        return "some of its rows are results of another operator"
    return "rows without a window must meet whatever their times"
