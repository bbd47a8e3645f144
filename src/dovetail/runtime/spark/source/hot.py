"""Hot keys of streams that are read here: found in a sample of a batch while it is planned, and kept in its position.

Which times a batch has is told by the footers of its files. Where one does not tell, keys that are split stay so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.model.files import Files
from dovetail.model.query import JoinQuery
from dovetail.plan.partition_grid import Grid
from dovetail.plan.split_keys import key_splits
from dovetail.runtime.deal import Route
from dovetail.runtime.files.decode import decoded
from dovetail.runtime.files.feed import FilesFeed, pieces_of
from dovetail.runtime.files.listing import Known, span
from dovetail.runtime.hot_keys import SAMPLE_ROWS, HotKeys, Sample
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.pack import Packer
from dovetail.runtime.spark.source.feed import Feed
from dovetail.runtime.spark.source.work import Input

_PIECES = 4  # of a batch that are looked into: rows near each other may be alike


def routes_of(hot: Any, query: JoinQuery, grid: Grid) -> tuple[Route, ...]:
    """How rows of hot keys go, by what a position says of them."""
    return HotKeys.from_json(hot).routes(key_splits(query, grid))


def next_hot_keys(
    before: Any, inputs: Sequence[Input], feeds: Mapping[str, Feed], packers: Mapping[str, Packer], layouts: Layouts
) -> Any:
    """Those of the batch that was planned last, of which these streams have rows."""
    hot, query, grid = HotKeys.from_json(before), layouts.query, layouts.plan().grid
    files = {each.name: _planned(feeds[each.name]) for each in inputs}
    samples = {each.name: _sample(each, files[each.name], packers[each.name]) for each in inputs}
    hot = hot.next(query, grid, samples, hot.frontier(query))
    known = {name: _newest(own) for name, own in files.items() if not all(file.empty for file in own)}
    return hot.seen(query, known).to_json()


def _planned(feed: Feed) -> list[Known]:
    assert isinstance(feed, FilesFeed), "only these tell their times"
    return feed.planned


def _newest(files: Sequence[Known]) -> int | None:
    times = span([file.times for file in files if not file.empty])
    return None if times is None else times[1]


def _sample(given: Input, files: Sequence[Known], packer: Packer) -> Sample:
    """Of some pieces of a stream's batch, their first rows."""
    assert isinstance(given.source, Files)
    pieces = [piece for file in files for piece in pieces_of(file)]
    some = pieces[:: -(-len(pieces) // _PIECES) or 1]
    firsts = (next(decoded(given.source, p.file, given.schema, given.columns, p.groups), None) for p in some)
    rows = [first.slice(0, SAMPLE_ROWS // _PIECES) for first in firsts if first is not None]
    return packer.sample(rows, sum(file.rows for file in files))
