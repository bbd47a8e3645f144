"""Many queries as one operator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.api.query import Query
from dovetail.errors import QueryError
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_queries import member_of

if TYPE_CHECKING:
    from dovetail.plan.share_queries import SharedPlan
    from dovetail.runtime.shared import SharedRun
    from dovetail.runtime.spark.frames import DataFrame, SparkSession


@dataclass(frozen=True)
class SharedQuery:
    """Queries that run together, embedded or on Spark; each gets what it would get alone."""

    groups: Groups

    def __post_init__(self) -> None:
        if not isinstance(self.groups, Groups):
            raise QueryError(f"a shared query of {self.groups!r}: make one with dovetail.share")

    @property
    def names(self) -> tuple[str, ...]:
        """The names that results carry."""
        return tuple(member.name for member in self.groups.members)

    @property
    def schema(self) -> pa.Schema:
        """Columns of the result: ``query``, ``result_time``, then every column that some query selects."""
        return self.groups.schema

    def local(self, snapshot: bytes | None = None, eager: bool = True) -> "SharedRun":
        """The embedded engine; from a snapshot of the same or of other queries over these streams, it goes on.

        With ``eager=False`` a push only takes arrivals in, and ``run.work(seconds)`` does the most urgent work.
        """
        from dovetail.runtime.shared import SharedRun

        return SharedRun(self.groups, snapshot, eager=eager)

    def collect(self) -> pa.Table:
        """Run finite inputs to the end with the embedded engine, in order of event time."""
        from dovetail.runtime.shared import collect_shared

        return collect_shared(self.groups)

    def explain(self) -> str:
        """Which queries share an operator, which run alone and why, and the plan of each operator."""
        from dovetail.plan.explain_shared import explain_shared

        return explain_shared(self.groups)

    def _repr_html_(self) -> str:
        """How notebooks show it: as the plan of each operator."""
        from dovetail.plan.display import folded, title

        return title(f"shared by {', '.join(self.names)}") + folded("the plan in words", self.explain())

    def spark(self, session: "SparkSession | None" = None) -> "DataFrame":
        """A DataFrame of all results, ``query`` first: streaming if any input streams, static otherwise.

        A changed set of queries over the same streams resumes from the same checkpoint.
        """
        from dovetail.runtime.spark.pipeline import spark_shared

        return spark_shared(self.plans, session)

    def write(
        self,
        sinks: Mapping[str, Any],
        checkpoint: str,
        *,
        trigger: Mapping[str, Any] | None = None,
        session: "SparkSession | None" = None,
        changes: bool = False,
    ) -> Any:
        """Run the join once on Spark and route each query's rows to its own sink; returns the streaming query.

        A sink is a path (Parquet files), options of a Spark writer (``{"format": "csv", "path": ...}``), or a
        function of a DataFrame and the number of its batch. Files are written exactly once, one folder per batch;
        every other sink is skipped when a repeated batch finds that it was already done. ``trigger`` is Spark's.

        With ``changes=True``, what is returned has ``add(query, sink)`` and ``remove(name)`` besides: queries come and
        go while it runs, each from a batch on, and the checkpoint knows them. A checkpoint is of one kind for ever.
        """
        if changes:
            from dovetail.runtime.spark.changing import write_changing

            return write_changing(self.groups, sinks, checkpoint, dict(trigger or {}), session)
        from dovetail.runtime.spark.sinks import write_shared

        return write_shared(self.spark(session), self.groups.members, sinks, checkpoint, dict(trigger or {}))

    def finish(self, sinks: Mapping[str, Any], checkpoint: str, session: "SparkSession | None" = None) -> None:
        """Write what all queries still hold in a checkpoint, as if their inputs had ended; see ``Query.finish``.

        ``sinks`` are those of ``write``; the rows are the batch after the last.
        """
        from dovetail.runtime.spark.sinks import finish_shared_into

        finish_shared_into(self.plans, self.groups.members, sinks, checkpoint, session)

    @property
    def plans(self) -> "list[SharedPlan]":
        """One operator per group, the same ones in the same order whatever other queries there are."""
        plans = self.groups.together().plans
        return [plans[place] for place in sorted(plans)]


def share(*queries: Query, schedule: str = "greedy") -> SharedQuery:
    """One operator for many queries over the same streams: each gets what it would get alone, for less.

    Queries without a name are called q1, q2, ... by their place. ``schedule`` says in which order arrivals look
    through windows of different sizes: "greedy", "smallest" (window first) or "largest" (window only).

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", schema=schema) for name in "AB")
    >>> near = dv.join(a, b, on="A.k = B.k", select="A.k", window="1 second").named("near")
    >>> far = dv.join(a, b, on="A.k = B.k AND A.k > 5", select="A.k", window="1 minute")
    >>> dv.share(near, far).names
    ('near', 'q2')
    """
    if not queries:
        raise QueryError("share: got nothing; give queries made with dovetail.join or dovetail.sql")
    members = (member_of(query, f"q{at}") for at, query in enumerate(queries, 1))
    return SharedQuery(Groups.of(members, schedule))  # type: ignore[arg-type]  # groups check their schedule
