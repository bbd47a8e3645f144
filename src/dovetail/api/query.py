"""A bound query, ready to run embedded or on Spark."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.api.options import check_options
from dovetail.errors import QueryError
from dovetail.model.fitting import check_limit, check_threads
from dovetail.model.query import JoinQuery

if TYPE_CHECKING:
    from dovetail.plan.physical import Plan
    from dovetail.runtime.local import Run
    from dovetail.runtime.spark.frames import DataFrame, SparkSession

_TEXT = ("on", "select", "window")
_MADE_WITH = "is what a query is made with: make another with dovetail.join or dovetail.sql"


@dataclass(frozen=True)
class Query:
    """A bound query, ready to run embedded or on Spark."""

    model: JoinQuery
    name: str | None = None

    def __post_init__(self) -> None:
        from dovetail.plan.split_query import asked_tree, split_query

        if not isinstance(self.model, JoinQuery):
            raise QueryError(f"a query of {self.model!r}: make one with dovetail.join or dovetail.sql")
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise QueryError(f"a query's name is a text, not {self.name!r}")
        self.plan  # noqa: B018  # planning finds what the predicates do not allow, now and not when it runs
        tree = asked_tree(self.model)
        if tree is not None:
            split_query(self.model, tree)

    @cached_property
    def plan(self) -> "Plan":
        """How it runs as one operator; made once."""
        from dovetail.plan.plan_query import plan_query

        return plan_query(self.model)

    @property
    def schema(self) -> pa.Schema:
        """Columns of the result: ``result_time``, then the select list."""
        return self.model.schema

    def local(self, snapshot: bytes | None = None, threads: int | None = None) -> "Run":
        """The embedded engine, no Spark and no Java; from a snapshot, it goes on where that was taken.

        At most so many ``threads`` join, as many as there are cores if nothing is said: where pushes are large, and
        where the query can be split (``explain()`` says if it cannot). The rows are the same with any number.
        """
        from dovetail.runtime.local import Run

        check_threads(threads)
        return Run(self.plan, snapshot, threads=threads)

    def resume(self, snapshot: bytes, of: "Query | None" = None, threads: int | None = None) -> "Run":
        """The embedded engine, going on from the snapshot ``of`` another query: this one before it was changed.

        Windows may be longer or shorter, columns more or fewer, the order and the algorithms others. Nothing is lost
        or repeated. Where the old query has forgotten what this one asks for, ``metrics()["complete_from"]`` is the
        result time, in microseconds, from which on nothing is missing. ``threads`` as for ``local``.

        >>> import dovetail as dv, pyarrow as pa
        >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
        >>> a, b = (dv.stream(name, time="ts", schema=schema) for name in "AB")
        >>> old, new = (dv.join(a, b, on="A.k = B.k", window=window) for window in ("10 seconds", "1 minute"))
        >>> run = old.local()
        >>> run.push("A", [{"ts": 3_000_000, "k": 1}]).num_rows
        0
        >>> new.resume(run.snapshot(), of=old).push("B", [{"ts": 20_000_000, "k": 1}]).num_rows
        1
        """
        from dovetail.runtime.local import Run

        check_threads(threads)
        return Run(self.plan, self._carried(snapshot, of), threads=threads)

    def collect(self, threads: int | None = None, limit: int | None = None) -> pa.Table:
        """Run finite inputs to the end with the embedded engine, in order of event time; ``threads`` as ``local``.

        With a ``limit``, it stops as soon as there are so many results: the first in order of time if the query has an
        order, else those that are found first. Input is then joined in small pieces, so that they come soon; tables
        without windows by the plan that is predicted to take the least work for so many (``explain(limit=...)``).

        >>> import dovetail as dv, pyarrow as pa
        >>> rows = pa.table({"ts": pa.array(range(1000), pa.timestamp("us")), "k": [1] * 1000})
        >>> a, b = (dv.stream(name, rows, time="ts") for name in "AB")
        >>> dv.join(a, b, on="A.k = B.k").collect(limit=10).num_rows
        10
        """
        from dovetail.runtime.local import collect

        check_threads(threads)
        return collect(self.plan, threads, limit)

    def explain(
        self,
        costs: bool = True,
        rates: "float | Mapping[str, float] | None" = None,
        keys: "float | Mapping[str, float] | None" = None,
        limit: int | None = None,
    ) -> str:
        """The plan in words: streams, how each is stored, how each arrival probes, what it costs and gives.

        Before any data has come: ``rates`` in tuples per second and ``keys`` as distinct values, one number for
        all or one per stream (or per key, ``"A.k"``); what is not given is assumed, and the text says so. With a
        ``limit``, the plan of ``collect(limit=...)``, by what the tables themselves have.
        """
        from dovetail.plan.explain import explain

        return explain(self.plan_report(rates, keys, limit), costs)

    def plan_report(
        self,
        rates: "float | Mapping[str, float] | None" = None,
        keys: "float | Mapping[str, float] | None" = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """What ``explain`` says, as plain values for programs."""
        if limit is not None and self.model.answered is None:
            from dovetail.runtime.first_rows import first_report

            check_limit(limit)
            return first_report(self.model, limit)
        from dovetail.plan.calibrate import load_weights
        from dovetail.plan.tree_report import query_report

        return query_report(self.model, load_weights(), rates, keys)

    def planned(
        self,
        rates: "float | Mapping[str, float] | None" = None,
        keys: "float | Mapping[str, float] | None" = None,
    ) -> "Query":
        """The same query as the operators that cost least for such streams: one, or several if that is clearly less.

        It is for ``plan="auto"``; one that is set by hand stays. Structures and probe orders follow while it runs. How
        rows are dealt out to buckets or threads does not: with ``rates`` by stream, those that bring many rows are
        copied least. A checkpoint goes on with the rates it began with.

        >>> import dovetail as dv, pyarrow as pa
        >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "j": pa.int64()})
        >>> streams = [dv.stream(name, time="ts", window="1 hour", schema=schema) for name in "ABC"]
        >>> query = dv.join(*streams, on="A.k = B.k AND A.j = C.j")
        >>> query.planned(rates=1000, keys={"A.k": 1e9, "B.k": 1e9, "A.j": 10, "C.j": 10}).model.plan
        (('A', 'B'), 'C')
        >>> query.planned(rates=1000, keys=1e6).model.plan
        'auto'
        """
        from dovetail.plan.assume import assume
        from dovetail.plan.calibrate import load_weights
        from dovetail.plan.tree_report import chosen_tree

        if self.model.answered is not None:
            return self
        tree = chosen_tree(self.model, load_weights(), rates, keys) if self.model.plan == "auto" else None
        streams = self.model.streams
        if isinstance(rates, Mapping):
            known = assume(self.model, rates, keys).streams
            streams = tuple(replace(stream, rate=known[stream.name].rate) for stream in streams)
        return Query(replace(self.model, plan=tree or self.model.plan, streams=streams), self.name)

    def _repr_html_(self) -> str:
        """How notebooks show it: as its plan."""
        from dovetail.plan.display import plan_html

        return plan_html(self.plan_report())

    def spark(
        self, session: "SparkSession | None" = None, snapshot: bytes | None = None, of: "Query | None" = None
    ) -> "DataFrame":
        """A DataFrame: streaming if any input streams, static otherwise; ``result_time`` first.

        With a ``snapshot``, a new checkpoint begins with what that holds: of an embedded run, or of another checkpoint
        (``snapshot_of``), whatever its number of partitions; ``of`` this query or, as for ``resume``, of another. The
        sources begin where they are told to.
        """
        from dovetail.runtime.spark.pipeline import spark_join

        if snapshot is None:
            return spark_join(self.plan, session)
        return spark_join(self.plan, session, snapshot=self._carried(snapshot, of))

    def snapshot_of(self, checkpoint: str, session: "SparkSession | None" = None) -> bytes:
        """What this query has left in a checkpoint on Spark, as a snapshot to go on from, embedded or on Spark."""
        from dovetail.runtime.spark.pipeline import spark_snapshot

        return spark_snapshot(self.plan, checkpoint, session)

    def migrate(
        self, checkpoint: str, into: str, *, of: "Query | None" = None, session: "SparkSession | None" = None
    ) -> int | None:
        """Write a new checkpoint from which this query goes on where another was stopped: this one before a change.

        What ``of`` (this query, if nothing is said) has left in ``checkpoint`` is dealt out to the partitions that the
        session has now; sources go on after the last row that was read, and sinks with the next batch. The old
        checkpoint stays as it is: start one of the two. Returns ``complete_from``, as ``resume`` has it in its metrics.
        """
        from dovetail.runtime.local import complete_from
        from dovetail.runtime.spark.migrate import migrate

        old = self._old(of).plan
        carried = migrate(old, self.plan, checkpoint, into, lambda left: self._carried(left, of), session)
        return complete_from(self.plan, carried)

    def _carried(self, snapshot: bytes, of: "Query | None") -> bytes:
        from dovetail.runtime.local import carried_over

        return carried_over(self._old(of).plan, self.plan, snapshot)

    def _old(self, of: "Query | None") -> "Query":
        if of is not None and not isinstance(of, Query):
            raise QueryError(f"of={of!r} is not a query; give the one whose state it is")
        return of or self

    def write(
        self,
        sink: Any,
        checkpoint: str,
        *,
        trigger: Mapping[str, Any] | None = None,
        session: "SparkSession | None" = None,
    ) -> Any:
        """Run it on Spark into a sink that takes results as Arrow, exactly once; returns the streaming query.

        A sink is made with ``dovetail.parquet``, ``dovetail.delta`` or ``dovetail.kafka``; ``trigger`` is Spark's, such
        as ``{"availableNow": True}``.
        """
        from dovetail.runtime.spark.sink.start import start_write

        return start_write(self.plan, sink, checkpoint, dict(trigger or {}), session, self.name)

    def finish(self, checkpoint: str, sink: Any = None, session: "SparkSession | None" = None) -> "DataFrame | None":
        """On Spark: what the query still holds in a checkpoint, as if its inputs had ended where it has come to.

        Rows that wait for their order or for a partner, and aggregates. Run it first to the end of its input, with
        ``trigger={"availableNow": True}``. Without a sink they are a DataFrame, the same however often it is asked for;
        into the ``sink`` of ``write`` they are written as its last batch, exactly once also if this is repeated after
        a failure, and ``write`` then refuses to go on from the checkpoint.
        """
        from dovetail.runtime.spark.finish import finish, finish_into
        from dovetail.runtime.spark.sink.start import place_of

        if sink is None:
            return finish(self.plan, checkpoint, session)
        finish_into(self.plan, place_of(sink, checkpoint, self.plan), checkpoint, session)
        return None

    def late(self, session: "SparkSession | None" = None) -> "DataFrame":
        """On Spark, with ``late="divert"``: the rows that did not come in, with the reason and how late."""
        from dovetail.runtime.spark.pipeline import spark_late

        return spark_late(self.plan, session)

    def replace(self, **changes: Any) -> "Query":
        """The same query with some options changed: those of ``join`` but its text and its windows.

        >>> import dovetail as dv, pyarrow as pa
        >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
        >>> a, b = (dv.stream(name, time="ts", window="1 second", schema=schema) for name in "AB")
        >>> dv.join(a, b, on="A.k = B.k").replace(order="sync").model.order
        'sync'
        """
        bound = {part.name for part in fields(self.model)}
        check_options([name for name in changes if name not in bound], dict.fromkeys(_TEXT, _MADE_WITH))
        return Query(replace(self.model, **changes), self.name)

    def named(self, name: str) -> "Query":
        """The same query under a name, which its results carry where queries are shared.

        >>> import dovetail as dv, pyarrow as pa
        >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
        >>> a, b = (dv.stream(name, time="ts", window="1 second", schema=schema) for name in "AB")
        >>> dv.join(a, b, on="A.k = B.k").named("pairs").name
        'pairs'
        """
        if name is None:
            raise QueryError("a query's name is a text, not None")
        return Query(self.model, name)
