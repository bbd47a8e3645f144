"""The source that Spark drives: where it is, what a batch is made of, and what a task reads.

    driver, a process of its own     latestOffset: the position after the next batch, written to the checkpoint
                                     partitions: the pieces between two positions, as tasks
    worker                           read: decode -> needed columns -> own filters -> cells -> blobs

One source reads all of a query's streams, so that a batch is planned once and its rows are packed in one stage.
A position has one entry per stream, and one for the hot keys of the batch that it ends. A batch that was planned is
read again as it was, whatever has come since.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from dovetail.model.stamp import stamp
from dovetail.runtime.spark.packed import PACKED
from dovetail.runtime.spark.source.feed import Feed
from dovetail.runtime.spark.source.tasks import Task, Unread, dealt_out
from dovetail.runtime.spark.source.work import INPUTS, PACKERS, SPLITS, TASKS, Input, unpacked
from dovetail.runtime.spark.types import spark_schema

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # before Spark 4.2 such a run is one batch of all there is

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Nobody asks."""


NAME = "dovetail"
HOT = ""  # in a position, beside the streams, which have names
NO_KEYS = stamp(1) | {
    "newest": -(1 << 62),
    "past": {},
    "keys": [],
}  # as ``HotKeys`` would say it, which is not loaded in vain


class PackedSource(DataSource):
    """Packed rows of all streams that are read here."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        return spark_schema(PACKED)

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: N802
        return StreamReader(self.options)

    def reader(self, schema: StructType) -> "TableReader":
        return TableReader(self.options)


class Reading:
    """What tasks do; it travels to them."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._inputs, self._packers, self._tasks = options[INPUTS], options[PACKERS], int(options[TASKS])
        self._splits = options.get(SPLITS) == "1"

    @property
    def inputs(self) -> tuple[Input, ...]:
        inputs: tuple[Input, ...] = unpacked(self._inputs)
        return inputs

    @property
    def leaves_out(self) -> bool:
        """Whether rows that can have no partner need not be read."""
        return all(each.window_us is not None for each in self.inputs)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The packed rows of a task."""
        from dovetail.runtime.spark.source.hot import routes_of
        from dovetail.runtime.spark.source.read import read_part

        assert isinstance(partition, Task)
        packers, layouts = unpacked(self._packers)
        here, inputs = layouts.here(), {each.name: each for each in self.inputs}
        routes = routes_of(partition.hot, layouts.query, here.grid) if partition.hot else ()
        for part in partition.parts:
            packer = replace(packers[part.stream], grid=here.grid, numbers=here.numbers, routes=routes)
            if part.unread is not None:
                yield packer.told(part.unread.rows, part.unread.newest)
            yield from packer.packed(read_part(inputs[part.stream], part), part.place)


class StreamReader(Reading, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The streams, batch by batch."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self._at: dict[str, Any] | None = None

    @cached_property
    def _feeds(self) -> dict[str, Feed]:
        """Made by the first process that asks: the reader travels to tasks, and a connection to a broker cannot."""
        return {each.name: each.feed() for each in self.inputs}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        begin = {name: feed.initial() for name, feed in self._feeds.items()}
        return begin | {HOT: NO_KEYS} if self._splits else begin

    def latestOffset(self, start: dict[str, Any] | None = None, limit: object = None) -> dict[str, Any]:  # noqa: N802
        """The position after the next batch; before Spark 4.2 nobody tells where it starts, until one was planned."""
        told, start = start is not None, self._at if start is None else start
        if start is None:
            self._at = {name: feed.latest(None) for name, feed in self._feeds.items()}
            return self._at
        ends = {name: feed.latest(start[name]) for name, feed in self._feeds.items()}
        silent = [name for name, end in ends.items() if end == start[name]]
        if len(silent) < len(ends):
            self._at = ends | {name: self._feeds[name].silent(start[name]) for name in silent}
            if HOT in start:
                self._at[HOT] = self._hot_keys(start[HOT], set(ends) - set(silent), told and self._splits)
            return self._at
        return start

    def _hot_keys(self, before: Any, coming: set[str], judged: bool) -> Any:
        """Those of the batch that was planned; who does not judge them leaves them as they are for ever.

        The engine that finds them is loaded only for queries that split.
        """
        if not judged:
            return before | {"newest": None}
        from dovetail.runtime.spark.source.hot import next_hot_keys

        packers, layouts = unpacked(self._packers)
        return next_hot_keys(
            before, [each for each in self.inputs if each.name in coming], self._feeds, packers, layouts
        )

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        for feed in self._feeds.values():
            feed.freeze()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        self._at = end
        work = {name: feed.pieces(start[name], end[name]) for name, feed in self._feeds.items()}
        return dealt_out(work, self._tasks, end.get(HOT), self._left_out(work, start, end))

    def _left_out(self, work: dict[str, Any], start: dict[str, Any], end: dict[str, Any]) -> dict[str, Unread]:
        if not self.leaves_out:
            return {}
        from dovetail.runtime.spark.source.unread import left_out

        return left_out(self.inputs, work, start, end)


class TableReader(Reading, DataSourceReader):
    """The streams as tables: all that is there now."""

    def partitions(self) -> Sequence[InputPartition]:
        feeds = {each.name: each.feed() for each in self.inputs}
        work: dict[str, Any] = {name: feed.pieces(feed.initial(), feed.latest(None)) for name, feed in feeds.items()}
        if self.leaves_out:
            from dovetail.runtime.spark.source.unread import left_out_of_tables

            return dealt_out(work, self._tasks, unread=left_out_of_tables(self.inputs, work)) or [Task(())]
        return dealt_out(work, self._tasks) or [Task(())]
