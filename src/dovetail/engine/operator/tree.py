"""A tree of operators driven as if it were one: results of a lower operator are pushed into the one above it.

    push A -> operator (A, B) -> its results -> operator ((A, B), C) -> results
                              -> its frontier: nothing older comes from (A, B) any more

Results of a call are handed up in pieces; when it is done, so is the promise of how far the operator has come.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import pyarrow as pa

from dovetail.engine.admit.door import Lateness
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.buffer.section import Changes, Slices
from dovetail.engine.operator.contract import Operator, SideOutput
from dovetail.engine.operator.engine import Rows
from dovetail.engine.operator.readings import Readings
from dovetail.engine.operator.state import FORMAT
from dovetail.errors import StateError
from dovetail.model.query import JoinQuery
from dovetail.model.stamp import check_stamp, stamp
from dovetail.model.stream import Stream
from dovetail.plan.split_query import Operator as OperatorQuery

_TOLD = ("stream", "reason", "late_by")
_SUMMED = (
    "limit", "held", "spilled", "spilled_bytes", "parts", "flushes", "flushed_tuples", "passes", "probes",
    "disk_results", "cpu", "given_s", "used_s", "comparisons", "comparisons_skipped", "pending",
)  # fmt: skip
_PIECE_ROWS = 1 << 16  # results that are handed up at once: enough for a good block, few enough to bound memory


@dataclass(frozen=True)
class Node:
    """An operator of the tree; ``above`` is the place of the one that its results go to, ``gives`` their name there."""

    operator: Operator
    query: OperatorQuery
    above: int | None
    gives: str | None


class Tree:
    """Operators, those below before those above; together they are the ``whole`` query.

    With ``keeps``, streams are kept as long as one operator for all of them would: another shape may need them.
    """

    def __init__(
        self, whole: JoinQuery, top: OperatorQuery, operators: Sequence[Operator], keeps: bool = False
    ) -> None:
        self.whole, self.top, self._keeps = whole, top, keeps
        queries = top.operators
        places = {name: at for at, each in enumerate(queries) for name in each.query.names}
        named = {id(child): name for each in queries for name, child in each.below.items()}
        gives = [named.get(id(each)) for each in queries]
        self.nodes = [
            Node(operator, query, None if name is None else places[name], name)
            for operator, query, name in zip(operators, queries, gives, strict=True)
        ]
        self._streams = {name: at for name, at in places.items() if name not in gives}

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch of one or several streams; rows that do not fit are found before anything has changed."""
        asked: dict[int, list[str]] = {}
        for name in {**blocks, **(newest or {})}:
            asked.setdefault(self._streams[name], []).append(name)
        return self._all({at: self._pushed(at, names, blocks, newest, spans) for at, names in sorted(asked.items())})

    def _pushed(
        self,
        at: int,
        names: list[str],
        blocks: Mapping[str, Batch],
        newest: Mapping[str, int] | None,
        spans: Spans | None,
    ) -> Rows:
        """The part of a batch that one operator gets; heartbeats come to one that has no rows too."""
        rows = {name: blocks[name] for name in names if name in blocks}
        told = None if newest is None else {name: newest[name] for name in names if name in newest}
        seen = None if spans is None else {name: spans[name] for name in names if name in spans}
        return self.nodes[at].operator.push(rows, told, seen)

    def _all(self, results: Mapping[int, Rows]) -> Rows:
        for at, rows in results.items():
            yield from self._up(at, rows)
        if self._keeps:
            self._keep()

    def _keep(self) -> None:
        """Tell each operator how far the streams of the others have come."""
        lines = [each.line for node in self.nodes for each in node.operator.statistics()]
        reach = {name: time for line in lines for name, time in line.inputs.reach({}).items() if name in self._streams}
        for line in lines:
            line.elsewhere = min((t for name, t in reach.items() if name not in line.store.windows), default=AFTER_ALL)

    def _up(self, at: int, rows: Rows) -> Rows:
        """Results of one operator on their way to the top."""
        node = self.nodes[at]
        return rows if node.above is None else self._up(node.above, self._into(node, rows))

    def _into(self, node: Node, rows: Rows) -> Rows:
        assert node.above is not None, "the top has nothing above it"
        assert node.gives is not None, "the top has nothing above it"
        above = self.nodes[node.above].operator
        for piece in _pieces(rows, node.query.query.schema):
            yield from above.push({node.gives: piece})
        yield from above.advance(node.gives, node.operator.frontier)

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        at = self._streams[name]
        yield from self._all({at: self.nodes[at].operator.advance(name, time_us)})

    def tick(self, now_us: int) -> Rows:
        """It is now this time."""
        yield from self._all({at: node.operator.tick(now_us) for at, node in enumerate(self.nodes)})

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""
        yield from self._all({at: node.operator.close() for at, node in enumerate(self.nodes)})

    @property
    def frontier(self) -> int:
        """No stream will send anything older, and no result before it is still owed."""
        return self.nodes[-1].operator.frontier

    def statistics(self) -> tuple[Readings, ...]:
        """Of every operator, those below before those above."""
        return tuple(replace(each, gives=node.gives) for node in self.nodes for each in node.operator.statistics())

    @property
    def diverted(self) -> SideOutput:
        """The rows of all streams that did not come in."""
        return _Diverted({name: self.nodes[at].operator.diverted for name, at in self._streams.items()})

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped."""
        found = {name: self.nodes[at].operator.lateness() for name, at in self._streams.items()}
        return {name: own[name] for name, own in found.items() if name in own}

    def awaits(self, now_us: int) -> bool:
        """Whether it would matter to be told the time."""
        return any(node.operator.awaits(now_us) for node in self.nodes)

    def metrics(self) -> dict[str, Any]:
        """Counters of the whole, and of each operator."""
        parts = [node.operator.metrics() for node in self.nodes]
        streams = {name: parts[at]["streams"][name] for name, at in self._streams.items()}
        held = sum(part["bytes"] for part in parts)
        accounts = {name: _together(name, parts) for name in ("budget", "memory") if name in parts[-1]}
        return parts[-1] | accounts | {"streams": streams, "operators": parts, "bytes": held}

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        return self._together([node.operator.changes() for node in self.nodes])

    def state(self) -> Changes:
        """All of the state, sections numbered by operator."""
        return self._together([node.operator.state() for node in self.nodes])

    def _together(self, parts: Sequence[Changes]) -> Changes:
        new: Slices = {}
        gone = []
        for at, part in enumerate(parts):
            new |= {(f"{at}:{section}", number): rows for (section, number), rows in part.new.items()}
            gone += [(f"{at}:{section}", number) for section, number in part.gone]
        headers = [json.loads(part.header) for part in parts]
        header = stamp(FORMAT) | {"operators": headers, "tree": self._shape}
        return Changes(new, gone, json.dumps(header).encode())

    @property
    def _shape(self) -> list[list[str]]:
        return [list(node.query.query.names) for node in self.nodes]

    def apply(self, changes: Changes) -> None:
        """Take over the state of a tree of the same shape."""
        header = json.loads(changes.header)
        check_stamp("this state", header, FORMAT)
        if header.get("tree") != self._shape:
            raise StateError("the snapshot was taken with another plan=; resume it with the one it was taken with")
        for at, node in enumerate(self.nodes):
            own = f"{at}:"
            new = {(s.removeprefix(own), n): rows for (s, n), rows in changes.new.items() if s.startswith(own)}
            gone = [(s.removeprefix(own), n) for s, n in changes.gone if s.startswith(own)]
            node.operator.apply(Changes(new, gone, json.dumps(header["operators"][at]).encode()))


@dataclass(frozen=True)
class _Diverted:
    """The side outputs of all operators as one, by stream."""

    parts: Mapping[str, SideOutput]

    def table(self) -> pa.Table:
        """The rows that nobody has taken yet."""
        return self._joined([part.table() for part in self._distinct()])

    def drain(self) -> pa.Table:
        """The same; they are forgotten here."""
        return self._joined([part.drain() for part in self._distinct()])

    def failed(self, stream: Stream, rows: pa.Table, error: Exception) -> None:
        """Keep the rows of a batch that could not be joined."""
        self.parts[stream.name].failed(stream, rows, error)

    def _distinct(self) -> list[SideOutput]:
        return list({id(part): part for part in self.parts.values()}.values())

    def _joined(self, tables: Sequence[pa.Table]) -> pa.Table:
        """With a column per stream of the query, and none for streams that are results of operators."""
        own = [table.select([n for n in table.schema.names if n in (*_TOLD, *self.parts)]) for table in tables]
        return pa.concat_tables(own, promote_options="default").select([*_TOLD, *self.parts])


def _together(account: str, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The account of a tree: a result needs those of all operators, so that shares of them multiply; the rest adds up.

    Whoever leaves nothing out, or has met nothing yet to leave out, counts as whole.
    """
    accounts = [part[account] for part in parts]
    found: dict[str, Any] = dict(accounts[-1])
    for name in _SUMMED:
        if name in found:
            found[name] = sum(each[name] for each in accounts)
    for name in ("completeness", "completeness_low", "completeness_high"):
        if name in found:
            found[name] = prod(each[name] for each in accounts)
    if "missed" in found and found["completeness"] > 0:
        results = parts[-1]["results"]
        found["missed"] = results / found["completeness"] - results
    return found


def _pieces(rows: Rows, schema: pa.Schema) -> Iterator[pa.Table]:
    """Results gathered to pieces of a good size."""
    waiting: list[pa.RecordBatch] = []
    for batch in rows:
        if batch.num_rows:
            waiting.append(batch)
        if sum(some.num_rows for some in waiting) >= _PIECE_ROWS:
            yield pa.Table.from_batches(waiting, schema)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting, schema)
