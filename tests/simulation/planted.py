"""Mistakes of the kind that the simulator is there to find, each made in the real code for as long as it is planted."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from dovetail.engine.admit.repeats import Repeats
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.section import Changes
from dovetail.runtime.deal import deal
from dovetail.runtime.hot_keys import HotKey
from dovetail.runtime.spark import operator, pack, sinks, unpack
from dovetail.runtime.spark.arrivals import Arrivals, read_arrivals
from dovetail.runtime.spark.cache import ENGINES, Cached, EngineCache
from dovetail.runtime.spark.left_files import LeftSlices
from dovetail.runtime.spark.lineage import Lineage
from dovetail.runtime.spark.operator import JoinOperator
from dovetail.runtime.spark.pack import Packer
from dovetail.runtime.spark.sink.parquet import ParquetFolder
from dovetail.runtime.spark.spilled_state import StateParts
from dovetail.runtime.spark.state import BucketState, Head
from dovetail.runtime.threads import redeal

Plant = tuple[Any, str, Callable[..., Any]]


def _counter(self: BucketState, step: Any, sums: Any, header: bytes) -> str:
    return str(int(step.before or 0) + 1)


def _state_first(
    self: JoinOperator, head: Head | None, cached: Cached, arrivals: Arrivals, report: Any
) -> Iterator[Any]:
    """Saves after the first results instead of the last."""
    results = self._results(cached.operator, arrivals)
    first = next(results, None)
    self._save(head, cached, report)
    for batch in [] if first is None else [first, *results]:
        if batch.num_rows:
            yield from self._output.rows([batch], report.bucket)
    yield self._output.report("{}")


_packed = Packer._packed


def _silent_cells(self: Packer, heartbeat: Any, sequence: int, totals: Any, cells: list[int], blobs: Any) -> Any:
    """No heartbeat for a cell that has no rows."""
    made = _packed(self, heartbeat, sequence, totals, cells, blobs)
    newest = [None if blob is None else heartbeat["newest"] for blob in made["blob"].to_pylist()]
    return made.set_column(made.schema.get_field_index("newest"), "newest", pa.array(newest, pa.int64()))


def _left_in_place(self: EngineCache, key: Any, token: str, behind: Any) -> Cached | None:
    found = [cached for cached in self._engines.get(key, []) if cached.token == token]
    return found[0] if found else None


def _trusting(self: JoinOperator, cached: Cached, head: Head) -> bool:
    """Catches up without dropping what is gone, and does not look whether it agrees with the state."""
    missed = head.lineage.since(cached.token)
    if missed is None:
        return False
    cached.operator.apply(Changes(self._state.load(missed[0], head), [], head.header))
    return True


def _old_token(self: JoinOperator, head: Head | None, cached: Cached, report: Any) -> None:
    """Keeps the engine under the token that it started from."""
    changes = cached.operator.changes()
    self._state.save(head, self._fingerprints[0], self._description, changes)
    vars(operator)["ENGINES"].put(self._key(report.bucket), replace(cached, token=head.token if head else ""))


def _by_chance(grid: Any, rows: Any, routes: Any = ()) -> Any:
    """Deals rows out from a place that is another one in every attempt."""
    return _deal(grid, replace(rows, position=_DICE.randrange(100)), routes)


def _clocked(self: Packer, rows: Any, partition: int, sequence: int, position: int) -> Any:
    """Sends along how long packing took."""
    made = _pack(self, rows, partition, sequence, position)
    told = [_DICE.randrange(9) for _ in range(made.num_rows)]
    return made.set_column(made.schema.get_field_index("null_times"), "null_times", pa.array(told, pa.int64()))


def _mark_first(sink: Any, checkpoint: str, rows: Any, batch: int) -> None:
    """Notes that a batch is done before it is."""
    mark = f"{checkpoint}/{batch % 2}"
    if sink.repeats or not sinks._done(rows.sparkSession, mark, batch):
        sinks._note(rows.sparkSession, mark, batch)
        sink.write(rows, batch)


def _one_mark(sink: Any, checkpoint: str, rows: Any, batch: int) -> None:
    """Skips a folder of files that is there, whole or not."""
    mark = f"{checkpoint}/all"
    if not sinks._done(rows.sparkSession, mark, batch):
        sinks._note(rows.sparkSession, mark, batch)
        sink.write(rows, batch)


def _own_clock(frames: Any, plan: Any) -> Arrivals:
    """Takes the time from the clock on the wall instead of from the batch."""
    found = read_arrivals(frames, plan)
    return replace(found, now=None if found.now is None else found.now + _DICE.randrange(20_000_000))


def _as_they_come(frames: Any, plan: Any) -> Arrivals:
    """Joins packed rows in the order in which the shuffle gives them."""

    class Unnumbered:
        def itertuples(self, index: bool) -> Iterator[Any]:
            return (row._replace(partition=0, sequence=0) for frame in frames for row in frame.itertuples(index=False))

    return read_arrivals([Unnumbered()], plan)


def _keeps_all(self: BucketState, before: Any, fingerprint: str, description: str, changes: Changes) -> Any:
    """Never deletes a slice."""
    return _save(self, before, fingerprint, description, replace(changes, gone=[]))


def _under_the_old(self: LeftSlices, token: str, blobs: Any, before: Lineage) -> None:
    """Leaves slices under the token that their batch started from."""
    _leave(self, before.steps[-1].before, blobs, before)


def _bound_once(self: StateParts, parts: Any) -> None:
    """Goes on reading and writing spilled rows through the first task that it was used in."""
    if self._parts is None:
        self._parts = parts


def _never_late(self: Lineage, token: str) -> Any:
    """Takes an engine that it knows nothing of to be one batch behind."""
    return _since(self, token) or (([], []) if self.steps else None)


def _all_copies(grid: Any, cells: Any, splits: Any) -> None:
    """Takes every copy of a row for the row itself."""


def _at_once(self: HotKey, split: Any) -> Any:
    """Deals the split stream's rows out as soon as the others' are copied."""
    return _route(self, replace(split, back_us=0))


def _unmerged(batches: Any) -> Iterator[Any]:
    return iter(batches)


def _own_horizon(frames: Any, plan: Any) -> Arrivals:
    """Judges how far ahead a row lies by the rows of this bucket alone."""
    return replace(read_arrivals(frames, plan), spans={})


def _forgets_repeats(self: Repeats) -> Any:
    """Does not write down which rows came."""
    return ({}, []) if isinstance(self, Repeats) else _pile_changes(self)


def _added(self: ParquetFolder, written: Any, batch: int) -> None:
    """Leaves files of a batch where they are when it is repeated."""
    place = Path(self.sink.path, f"batch={batch}")
    place.mkdir(exist_ok=True)
    for each in written:
        Path(self.sink.path, self.aside, each.name).rename(place / each.name)


def _moved_first(self: ParquetFolder, written: Any, batch: int) -> None:
    """Says that files are in their place before all of them are: who repeats the batch finds it done."""
    done = Path(self.sink.path, f"batch={batch}")
    if not done.exists():
        _commit(self, written, batch)


_deal, _pack, _save, _since, _leave = deal, Packer.pack, BucketState.save, Lineage.since, LeftSlices.leave
_route, _pile_changes, _commit = HotKey.route, Pile.changes, ParquetFolder.commit
_DICE = random.Random(0)
PLANTED: dict[str, list[Plant]] = {
    "the token is a counter": [(BucketState, "_token", _counter)],
    "the state is written before the last result": [(JoinOperator, "_batch", _state_first)],
    "a heartbeat is dropped": [(Packer, "_packed", _silent_cells)],
    "an engine stays in the cache while it works": [(EngineCache, "checkout", _left_in_place)],
    "catching up drops nothing and is not checked": [(JoinOperator, "_catch_up", _trusting)],
    "an engine is kept under the token it started from": [(JoinOperator, "_save", _old_token)],
    "packers deal rows out by chance": [(pack, "deal", _by_chance)],
    "packers send along what their clock says": [(Packer, "pack", _clocked)],
    "a sink is marked before it is written": [(sinks, "write_once", _mark_first)],
    "a folder that is there is taken to be whole": [(sinks, "write_once", _one_mark)],
    "the time is not that of the batch": [(operator, "read_arrivals", _own_clock)],
    "rows are joined as the shuffle gives them": [(operator, "read_arrivals", _as_they_come)],
    "slices are never deleted": [(BucketState, "save", _keeps_all)],
    "slices are left under the token before": [(LeftSlices, "leave", _under_the_old)],
    "spilled rows go through an old task": [(StateParts, "bind", _bound_once)],
    "an engine unknown to the lineage is taken": [
        (Lineage, "since", _never_late),
        (JoinOperator, "_catch_up", _trusting),
    ],
    "copies of a row are gathered as rows": [(redeal, "one_copy_each", _all_copies)],
    "a hot key is split at once for all streams": [(HotKey, "route", _at_once)],
    "buckets are not merged in order": [(unpack, "merged", _unmerged)],
    "a bucket judges by its own rows what is too far ahead": [(operator, "read_arrivals", _own_horizon)],
    "which rows came is not written down": [(Pile, "changes", _forgets_repeats)],
    "files of a repeated batch are added": [(ParquetFolder, "commit", _added)],
    "a folder of files is taken to be all of a batch": [(ParquetFolder, "commit", _moved_first)],
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Inside, the code has this mistake."""
    _DICE.seed(0)
    with ExitStack() as stack:
        for owner, attribute, mistake in PLANTED[name]:
            stack.enter_context(patch.object(owner, attribute, mistake))
        yield
    assert len(ENGINES) == 0, "the cache of this process is none of the workers'"
