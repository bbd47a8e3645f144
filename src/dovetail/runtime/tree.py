"""A tree of engines driven as if it were one: results of a lower operator are pushed into the one above it.

    push A -> engine (A, B) -> its results -> engine ((A, B), C) -> results
                            -> its frontier: nothing older comes from (A, B) any more

Results of a call are handed up in pieces; when it is done, so is the promise of how far the operator has come.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa

from dovetail.engine.admit.door import Lateness
from dovetail.engine.buffer.slices import Changes, SliceKey
from dovetail.engine.operator.engine import Engine, Rows, Stopwatch
from dovetail.errors import StateError
from dovetail.model.query import JoinQuery
from dovetail.model.tree import Tree
from dovetail.plan.calibrate import load_weights
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.split_operator import OperatorPlan
from dovetail.plan.split_query import asked_tree, split_query
from dovetail.plan.tree_report import BY_HAND, query_report, tree_report
from dovetail.runtime.replanning import Replanning, measured_report

_PIECE_ROWS = 1 << 16


class EngineTree:
    """One engine per operator, those below before those above."""

    def __init__(
        self, query: JoinQuery, tree: Tree, stopwatch: Stopwatch | None = None, block_rows: int | None = None
    ) -> None:
        self._query, self._top = query, split_query(query, tree)
        operators = self._top.operators
        self._engines = [Engine(plan_query(each.query), stopwatch, block_rows) for each in operators]
        for engine in self._engines:
            Replanning(engine)
        places = {name: at for at, each in enumerate(operators) for name in each.query.names}
        self._streams = {name: at for name, at in places.items() if not any(name in each.below for each in operators)}
        below = {id(child): name for each in operators for name, child in each.below.items()}
        self._above = [(places[below[id(each)]], below[id(each)]) if id(each) in below else None for each in operators]
        self.top = self._engines[-1]
        self.plan = self.top.plan
        self.diverted = self.top.diverted

    @property
    def operators(self) -> list[tuple[str | None, Engine]]:
        """Every engine with the name its results have as a stream of the one above; those below before those above."""
        return [(above[1] if above else None, each) for above, each in zip(self._above, self._engines, strict=True)]

    def push(self, blocks: Mapping[str, pa.Table | pa.RecordBatch]) -> Rows:
        """One batch of one or several streams; rows that do not fit are found before anything has changed."""
        asked: dict[int, dict[str, pa.Table | pa.RecordBatch]] = {}
        for name, rows in blocks.items():
            asked.setdefault(self._streams[name], {})[name] = rows
        return self._all({at: self._engines[at].push(some) for at, some in sorted(asked.items())})

    def _all(self, results: Mapping[int, Rows]) -> Rows:
        for at, rows in results.items():
            yield from self._up(at, rows)

    def _up(self, at: int, rows: Rows) -> Rows:
        """Results of one operator on their way to the top."""
        above = self._above[at]
        return rows if above is None else self._up(above[0], self._into(self._engines[at], rows, *above))

    def _into(self, engine: Engine, rows: Rows, above: int, name: str) -> Rows:
        for piece in _pieces(rows, engine.plan.query.schema):
            yield from self._engines[above].push({name: piece})
        yield from self._engines[above].advance(name, engine.frontier)

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        at = self._streams[name]
        yield from self._up(at, self._engines[at].advance(name, time_us))

    def tick(self, now_us: int) -> Rows:
        """It is now this time."""
        yield from self._all({at: engine.tick(now_us) for at, engine in enumerate(self._engines)})

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""
        yield from self._all({at: engine.close() for at, engine in enumerate(self._engines)})

    def decide(self, order: Literal["sync", "hold"]) -> None:
        """Where ordered output waits: at the top."""
        self.top.decide(order)

    def arrived(self) -> dict[str, int]:
        """How many rows each stream has sent."""
        return {name: self._engines[at].arrived()[name] for name, at in self._streams.items()}

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped."""
        found = {name: self._engines[at].lateness() for name, at in self._streams.items()}
        return {name: own[name] for name, own in found.items() if name in own}

    @property
    def latest(self) -> int:
        return max(engine.latest for engine in self._engines)

    @property
    def busy_s(self) -> dict[str, float]:
        return {name: self._engines[at].busy_s[name] for name, at in self._streams.items()}

    @property
    def joined(self) -> dict[str, int]:
        return {name: self._engines[at].joined[name] for name, at in self._streams.items()}

    def plan_report(self) -> dict[str, Any]:
        """The plan with what each operator has seen; before all have, with assumptions."""
        if not all(engine.observed.ready for engine in self._engines):
            return query_report(self._query, load_weights())
        plans = [OperatorPlan(engine.plan, engine.observed.sized()) for engine in self._engines]
        by_rule = not any(engine.decision.version for engine in self._engines)
        return tree_report(self._top, plans, load_weights(), by_rule) | {"plan_why": BY_HAND}

    def metrics(self) -> dict[str, Any]:
        """Counters of the whole, and of each operator."""
        parts = [engine.metrics() for engine in self._engines]
        streams = {name: parts[at]["streams"][name] for name, at in self._streams.items()}
        held = sum(part["bytes"] for part in parts)
        return parts[-1] | {"streams": streams, "operators": parts, "bytes": held}

    def state(self) -> tuple[dict[SliceKey, pa.RecordBatch], bytes]:
        """All slices, their sections numbered by operator, and one header."""
        slices: dict[SliceKey, pa.RecordBatch] = {}
        headers = []
        for at, engine in enumerate(self._engines):
            own, header = engine.state()
            slices |= {(f"{at}:{section}", number): rows for (section, number), rows in own.items()}
            headers.append(header)
        return slices, self._joint_header(headers)

    def changes(self) -> Changes:
        """What happened since the last call, as ``state`` gives it."""
        new: dict[SliceKey, pa.RecordBatch] = {}
        gone: list[SliceKey] = []
        headers = []
        for at, engine in enumerate(self._engines):
            own = engine.changes()
            new |= {(f"{at}:{section}", number): rows for (section, number), rows in own.new.items()}
            gone += [(f"{at}:{section}", number) for section, number in own.gone]
            headers.append(own.header)
        return Changes(new, gone, self._joint_header(headers))

    def _joint_header(self, headers: Sequence[bytes]) -> bytes:
        tree = [engine.plan.query.names for engine in self._engines]
        return json.dumps({"operators": [json.loads(header) for header in headers], "tree": tree}).encode()

    def apply(self, changes: Changes) -> None:
        """Take over the state of a tree of the same shape."""
        header = json.loads(changes.header)
        if header.get("tree") != [list(engine.plan.query.names) for engine in self._engines]:
            raise StateError("the snapshot was taken with another plan=; resume it with the one it was taken with")
        for at, engine in enumerate(self._engines):
            own = {
                (section.partition(":")[2], number): rows
                for (section, number), rows in changes.new.items()
                if section.startswith(f"{at}:")
            }
            engine.apply(Changes(own, [], json.dumps(header["operators"][at]).encode()))


def engine_of(plan: Plan, stopwatch: Stopwatch | None = None, block_rows: int | None = None) -> Any:
    """What runs a plan: one engine, or a tree of them (which takes the same calls) if the query asks for one."""
    tree = asked_tree(plan.query)
    if tree is not None:
        return EngineTree(plan.query, tree, stopwatch, block_rows)
    engine = Engine(plan, stopwatch, block_rows)
    Replanning(engine)
    return engine


def running_plan(engine: Any) -> dict[str, Any]:
    """The report of what ``engine_of`` has made."""
    return engine.plan_report() if isinstance(engine, EngineTree) else measured_report(engine)


def _pieces(rows: Rows, schema: pa.Schema) -> Iterator[pa.Table]:
    """Results gathered to pieces of a good size."""
    waiting: list[pa.RecordBatch] = []
    for batch in rows:
        waiting.append(batch)
        if sum(some.num_rows for some in waiting) >= _PIECE_ROWS:
            yield pa.Table.from_batches(waiting, schema)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting, schema)
