"""A query that runs as one operator or as several, whichever costs less for the streams as they are.

    push, advance, tick     the shape that runs does it; then control looks whether another would cost clearly less
    reshape                 between two calls the stored tuples are dealt out to the operators of the other shape

Its state is that of the shape that runs; ``reshaped`` counts changes of shape, so that whoever reads the state knows
whether its slices are of the same operators.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dovetail.control.reshape import Reshape
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.buffer.section import Changes, SliceKey
from dovetail.engine.operator.around import Around
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.engine import Rows
from dovetail.engine.operator.redeal import can_be_redealt, redeal
from dovetail.model.decision import Decision
from dovetail.model.query import JoinQuery
from dovetail.model.tree import Tree
from dovetail.plan.calibrate import load_weights


class Shaped(Around):
    """``build`` makes the operators of a tree, or the one operator of no tree."""

    def __init__(self, query: JoinQuery, build: Callable[[Tree | None], Operator]) -> None:
        self._query, self._build = query, build
        self.tree: Tree | None = None
        self.operator = build(None)
        self.reshaped = 0
        self._control = Reshape(query, load_weights())
        self._written: set[SliceKey] = set()
        self._is_new = False  # whether the shape has changed since the state was last written

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch of one or several streams; rows that do not fit are found before anything has changed."""
        return self._followed(self.operator.push(blocks, newest, spans))

    def _followed(self, results: Rows) -> Rows:
        yield from results
        tree = self._control.decide(self.tree, self.operator.statistics())
        if tree != self.tree:
            self.reshape(tree)

    def reshape(self, tree: Tree | None) -> None:
        """Go on in another shape; as before if something waits that belongs to this one."""
        if not can_be_redealt(self.operator):
            return
        operator = self._build(tree)
        redeal(self.operator, operator, self._query.names)
        self.tree, self.operator = tree, operator
        self.reshaped += 1
        self._is_new = True

    def adopt(self, decision: Decision) -> None:
        """Go on as decided by someone else, as one operator."""
        self.operator.adopt(decision)  # type: ignore[attr-defined]  # a decision is for one operator

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far, and how often its shape has changed."""
        return super().metrics() | {"reshaped": self.reshaped}

    def changes(self) -> Changes:
        """What to write to a state store since the last call; of another shape everything."""
        found = self.operator.changes()
        gone = [key for key in self._written if key not in found.new] if self._is_new else found.gone
        self._is_new = False
        self._written = (self._written | found.new.keys()) - set(gone)
        return self._counted(replace(found, gone=gone))

    def state(self) -> Changes:
        """All of the state, without taking note of having written it."""
        return self._counted(self.operator.state())

    def _counted(self, changes: Changes) -> Changes:
        if not self.reshaped:
            return changes
        return replace(changes, header=json.dumps(json.loads(changes.header) | {"reshaped": self.reshaped}).encode())

    def apply(self, changes: Changes) -> None:
        """Take over what another did to the same state, in the shape that it has."""
        header = json.loads(changes.header)
        if header.get("reshaped", 0) != self.reshaped:
            self.reshaped, self.tree = header.get("reshaped", 0), shape_of(header)
            self.operator, self._written = self._build(self.tree), set()
            changes = replace(changes, gone=[])
        self.operator.apply(changes)
        self._written = (self._written | changes.new.keys()) - set(changes.gone)
        self._is_new = False


def shape_of(header: Mapping[str, Any]) -> Tree | None:
    """The tree of a state; None: one operator.

    >>> shape_of({"tree": [["A", "B"], ["(A, B)", "C"]]})
    (('A', 'B'), 'C')
    """
    made: dict[str, Tree] = {}
    tree: Tree | None = None
    for names in header.get("tree", ()):
        tree = tuple(made.get(name, name) for name in names)
        made[f"({', '.join(names)})"] = tree
    return tree
