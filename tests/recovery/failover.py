"""A leading engine, a store that gets its changes, and an engine that follows and may take over at any moment."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

import dovetail as dv
from dovetail.engine.buffer.section import Changes, SliceKey
from dovetail.engine.operator.engine import Engine
from dovetail.testing import Advance, Event, Push, Tick

Store = dict[SliceKey, pa.RecordBatch]


def tell(engine: Engine, event: Event) -> pa.Table:
    """One event, a batch of several streams at once; the results it caused."""
    if isinstance(event, Push):
        batches = engine.push(event.batch)
    elif isinstance(event, Advance):
        batches = engine.advance(event.stream, event.time_us)
    else:
        batches = engine.tick(event.now_us) if isinstance(event, Tick) else engine.close()
    return pa.Table.from_batches(batches, engine.plan.query.schema)


def merged(changes: Iterable[Changes]) -> Changes:
    """Several changes as one, as whoever missed the ones in between sees them."""
    new: Store = {}
    gone: list[SliceKey] = []
    header = b""
    for change in changes:
        new = {key: rows for key, rows in (new | change.new).items() if key not in change.gone}
        gone += change.gone
        header = change.header
    return Changes(new, gone, header)


class Team:
    """Who leads, who follows, and what is stored."""

    def __init__(self, query: dv.Query) -> None:
        self.plan = query.plan
        self.leader, self.follower = Engine(self.plan), Engine(self.plan)
        self.store: Store = {}
        self.header = b""
        self._missed: list[Changes] = []
        self.save()
        self.follow()

    def save(self) -> None:
        """Write what changed."""
        changes = self.leader.changes()
        assert not changes.new.keys() & self.store.keys(), "a slice is written once"
        assert set(changes.gone) <= self.store.keys(), "only what was written can be deleted"
        self.store = {key: rows for key, rows in (self.store | changes.new).items() if key not in changes.gone}
        self.header = changes.header
        self._missed.append(changes)

    def follow(self) -> None:
        """The follower catches up on all it has missed."""
        self.follower.apply(merged(self._missed))
        self._missed = []
        assert measured(self.follower) == measured(self.leader)

    def restore(self) -> None:
        """Both are lost; new ones start from the store."""
        self.leader = Engine.restore(self.plan, self.store, self.header)
        self.follower = Engine.restore(self.plan, self.store, self.header)
        self._missed = []

    def swap(self) -> None:
        """The follower takes over, and the leader follows from now on."""
        self.follow()
        self.leader, self.follower = self.follower, self.leader


def measured(engine: Engine) -> dict[str, Any]:
    """Metrics, without sizes that depend on how much room an engine has made."""
    metrics = engine.metrics()
    del metrics["bytes"]
    for stream in metrics["streams"].values():
        del stream["bytes"]
    return metrics
