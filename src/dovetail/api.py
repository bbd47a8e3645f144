"""The public surface: stream, join, sql, function, Query. Each call names the stages it goes through."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.declare import (
    as_algorithms,
    as_data,
    as_duration,
    as_order,
    as_plan,
    as_schema,
    check_budget,
    check_choice,
    check_how,
    check_on_error,
    check_options,
    check_partitions,
    check_tied,
    check_time_column,
    with_windows,
)
from dovetail.errors import QueryError, StreamError
from dovetail.model.budget import Budget
from dovetail.model.expression import UserFunction
from dovetail.model.order import Adaptive
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import Window, as_window
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_queries import Member
from dovetail.runtime.sharing import SharedQuery

if TYPE_CHECKING:
    from pathlib import Path

    from dovetail.plan.physical import Plan
    from dovetail.plan.split_query import Tree
    from dovetail.runtime.local import Run
    from dovetail.runtime.spark.frames import DataFrame, SparkSession
    from dovetail.sql import Statement

_functions: dict[str, UserFunction] = {}


def stream(
    name: str,
    data: Any = None,
    *,
    time: str,
    window: str | timedelta | Window | None = None,
    delay: str | timedelta = "0 seconds",
    idle: str | timedelta | None = None,
    ahead: str | timedelta | None = None,
    schema: pa.Schema | None = None,
) -> Stream:
    """A named input: data now, or a ``schema`` for rows that are pushed later.

    Data is a Spark DataFrame, an Arrow table, batch or reader, a pandas or Polars frame, or a DuckDB relation.
    ``ahead`` refuses rows that lie further than this ahead of everything seen so far; without it one row with a wrong
    time far in the future makes all that follow late.

    >>> import dovetail as dv, pyarrow as pa
    >>> t = dv.stream("T", time="ts", window="1 minute", schema=pa.schema({"ts": pa.timestamp("us"), "v": pa.int64()}))
    >>> t.name, str(t.window)
    ('T', '1 minute')
    """
    if not isinstance(name, str) or not name:
        raise StreamError(f"a stream needs a name, not {name!r}")
    data = as_data(data)
    found = as_schema(name, data, schema)
    check_time_column(name, found, time)
    try:
        kept = None if window is None else as_window(window)
        idle_us = None if idle is None else as_duration("idle", idle)
        ahead_us = None if ahead is None else as_duration("ahead", ahead)
        return Stream(name, found, time, kept, as_duration("delay", delay), idle_us, data, ahead_us=ahead_us)
    except StreamError as error:
        raise StreamError(f"stream {name!r}: {error}") from error


def function(
    name: str, callable: Callable[..., Any], arguments: Sequence[pa.DataType | str], result: pa.DataType | str
) -> UserFunction:
    """Make a function over whole columns usable by name in ``on`` and ``select``.

    >>> import dovetail as dv, pyarrow.compute as pc
    >>> dv.function("same_start", lambda a, b: pc.equal(pc.utf8_slice_codeunits(a, 0, 3),
    ...     pc.utf8_slice_codeunits(b, 0, 3)), ["string", "string"], "bool").name
    'same_start'
    """
    types = tuple(pa.type_for_alias(t) if isinstance(t, str) else t for t in arguments)
    made = UserFunction(name, callable, types, pa.type_for_alias(result) if isinstance(result, str) else result)
    _functions[name] = made
    return made


def join(
    *streams: Stream,
    on: str,
    select: str | None = None,
    how: str = "inner",
    window: str | timedelta | Window | None = None,
    order: "str | Adaptive" = "none",
    late: str = "drop",
    budget: Budget | None = None,
    algorithm: str | Mapping[str, str] = "auto",
    plan: "str | Tree" = "auto",
    partitions: int | None = None,
    invalidation: str = "auto",
    on_error: str = "raise",
) -> "Query":
    """A query over two or more streams; mistakes in it are found here.

    A batch that fails, in a function of the user's own for example, raises and leaves the run as it was before; with
    ``on_error="divert"`` its rows go to ``run.late`` instead, and the run goes on.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", schema=schema) for name in "AB")
    >>> dv.join(a, b, on="A.k = B.k", select="A.k", window="10 seconds").schema.names
    ['result_time', 'k']
    """
    from dovetail.sql import Statement, bind_condition, bind_list

    if len(streams) < 2:
        raise QueryError(f"join: needs two streams or more, got {len(streams)}")
    if not isinstance(on, str):
        raise QueryError(f"join: on is {on!r}; give a condition as text, like 'A.k = B.k'")
    windowed = with_windows(streams, window)
    condition = bind_condition(on, windowed, _functions)
    check_tied(on, [each.name for each in windowed], condition.predicates)
    chosen = bind_list(select, windowed[:1] if how in ("semi", "anti") else windowed, _functions)
    bound = Statement(windowed, condition, chosen.outputs, check_how(how, windowed), chosen.aggregation)
    chosen_by_hand: dict[str, Any] = {"algorithm": algorithm, "plan": plan, "invalidation": invalidation}
    chosen_by_hand["on_error"] = on_error
    return _query(bound, order=order, late=late, budget=budget, partitions=partitions, **chosen_by_hand)


def sql(text: str, *streams: Stream, **options: Any) -> "Query":
    """The same from text: SELECT ... FROM ... WHERE ... WINDOW ..., over streams by their names.

    ``options`` are those of ``join`` that the text does not state.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> orders, payments = (dv.stream(name, time="ts", schema=schema) for name in ("Orders", "Payments"))
    >>> query = dv.sql("SELECT O.k FROM Orders O, Payments P WHERE O.k = P.k WINDOW 1 HOUR", orders, payments)
    >>> query.schema.names
    ['result_time', 'k']
    """
    from dovetail.sql import bind_statement

    window = options.pop("window", None)
    check_options(options, _query)
    bound = bind_statement(text, streams, _functions, None if window is None else as_window(window))
    with_windows(bound.streams, None)
    return _query(bound, **options)


def _query(
    bound: "Statement",
    *,
    order: "str | Adaptive" = "none",
    late: str = "drop",
    budget: Budget | None = None,
    algorithm: str | Mapping[str, str] = "auto",
    plan: "str | Tree" = "auto",
    partitions: int | None = None,
    invalidation: str = "auto",
    on_error: str = "raise",
) -> "Query":
    query = JoinQuery(
        streams=bound.streams,
        predicates=bound.condition.predicates,
        filters=bound.condition.filters,
        select=bound.select,
        how=bound.how,
        order=as_order("hold" if bound.aggregation and order == "none" else order),
        late=check_choice("late", late, ("drop", "keep", "divert")),
        budget=check_budget(budget, bound.how, bound.aggregation is not None, plan),
        algorithm=as_algorithms(algorithm, [each.name for each in bound.streams]),
        plan=as_plan(plan, [each.name for each in bound.streams]),
        partitions=check_partitions(partitions),
        aggregation=bound.aggregation,
        invalidation=check_choice("invalidation", invalidation, ("auto", "active", "lazy")),
        on_error=check_on_error(on_error, budget),
    )
    return Query(query)


def share(*queries: "Query", schedule: str = "greedy") -> SharedQuery:
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
    other = next((query for query in queries if not isinstance(query, Query)), None)
    if other is not None or not queries:
        what = "nothing" if other is None else f"a {type(other).__name__}"
        raise QueryError(f"share: got {what}; give queries made with dovetail.join or dovetail.sql")
    limited = next((query for query in queries if query.model.budget is not None), None)
    if limited is not None:
        named = f"share: a query has a budget ({limited.model.budget})"
        raise QueryError(f"{named}; shared queries take none. Run it alone.")
    diverting = next((query for query in queries if query.model.on_error != "raise"), None)
    if diverting is not None:
        raise QueryError("share: a query has on_error='divert', which is for a query that runs alone. Leave it out.")
    check_choice("schedule", schedule, ("greedy", "smallest", "largest"))
    members = (Member(query.name or f"q{at}", query.model) for at, query in enumerate(queries, 1))
    return SharedQuery(Groups.of(members, schedule))  # type: ignore[arg-type]  # checked above


@dataclass(frozen=True)
class Query:
    """A bound query, ready to run embedded or on Spark."""

    model: JoinQuery
    name: str | None = None

    def __post_init__(self) -> None:
        from dovetail.plan.split_query import asked_tree, split_query

        self.plan  # noqa: B018  # planning finds what the options do not allow, now and not when it runs
        tree = asked_tree(self.model)
        if tree is not None:
            split_query(self.model, tree)

    @property
    def plan(self) -> "Plan":
        from dovetail.plan.plan_query import plan_query

        return plan_query(self.model)

    @property
    def schema(self) -> pa.Schema:
        """Columns of the result: ``result_time``, then the select list."""
        return self.model.schema

    def local(self, snapshot: bytes | None = None) -> "Run":
        """The embedded engine, no Spark and no Java; from a snapshot, it goes on where that was taken."""
        from dovetail.runtime.local import Run

        return Run(self.plan, snapshot)

    def collect(self) -> pa.Table:
        """Run finite inputs to the end with the embedded engine, in order of event time."""
        from dovetail.runtime.local import collect

        return collect(self.plan)

    def explain(
        self,
        costs: bool = True,
        rates: "float | Mapping[str, float] | None" = None,
        keys: "float | Mapping[str, float] | None" = None,
    ) -> str:
        """The plan in words: streams, how each is stored, how each arrival probes, what it costs and gives.

        Before any data has come: ``rates`` in tuples per second and ``keys`` as distinct values, one number for
        all or one per stream (or per key, ``"A.k"``); what is not given is assumed, and the text says so.
        """
        from dovetail.plan.explain import explain

        return explain(self.plan_report(rates, keys), costs)

    def plan_report(
        self,
        rates: "float | Mapping[str, float] | None" = None,
        keys: "float | Mapping[str, float] | None" = None,
    ) -> dict[str, Any]:
        """What ``explain`` says, as plain values for programs."""
        from dovetail.plan.calibrate import load_weights
        from dovetail.plan.tree_report import query_report

        return query_report(self.model, load_weights(), rates, keys)

    def planned(
        self,
        rates: "float | Mapping[str, float] | None" = None,
        keys: "float | Mapping[str, float] | None" = None,
    ) -> "Query":
        """The same query as the operators that cost least for such streams: one, or several if that is clearly less.

        It is for ``plan="auto"``; one that is set by hand stays. Structures and probe orders follow while it runs.

        >>> import dovetail as dv, pyarrow as pa
        >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "j": pa.int64()})
        >>> streams = [dv.stream(name, time="ts", window="1 hour", schema=schema) for name in "ABC"]
        >>> query = dv.join(*streams, on="A.k = B.k AND A.j = C.j")
        >>> query.planned(rates=1000, keys={"A.k": 1e9, "B.k": 1e9, "A.j": 10, "C.j": 10}).model.plan
        (('A', 'B'), 'C')
        >>> query.planned(rates=1000, keys=1e6).model.plan
        'auto'
        """
        from dovetail.plan.calibrate import load_weights
        from dovetail.plan.tree_report import chosen_tree

        tree = chosen_tree(self.model, load_weights(), rates, keys) if self.model.plan == "auto" else None
        return self if tree is None else self.replace(plan=tree)

    def _repr_html_(self) -> str:
        """How notebooks show it: as its plan."""
        from dovetail.plan.display import plan_html

        return plan_html(self.plan_report())

    def spark(self, session: "SparkSession | None" = None) -> "DataFrame":
        """A DataFrame: streaming if any input streams, static otherwise; ``result_time`` first."""
        from dovetail.runtime.spark.pipeline import spark_join

        return spark_join(self.plan, session)

    def late(self, session: "SparkSession | None" = None) -> "DataFrame":
        """On Spark, with ``late="divert"``: the rows that did not come in, with the reason and how late."""
        from dovetail.runtime.spark.pipeline import spark_late

        return spark_late(self.plan, session)

    def replace(self, **changes: Any) -> "Query":
        """The same query with some options changed."""
        return Query(replace(self.model, **changes), self.name)

    def named(self, name: str) -> "Query":
        """The same query under a name, which its results carry where queries are shared.

        >>> import dovetail as dv, pyarrow as pa
        >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
        >>> a, b = (dv.stream(name, time="ts", window="1 second", schema=schema) for name in "AB")
        >>> dv.join(a, b, on="A.k = B.k").named("pairs").name
        'pairs'
        """
        if not isinstance(name, str) or not name:
            raise QueryError(f"a query's name is a text, not {name!r}")
        return Query(self.model, name)


def calibrate() -> "Path":
    """Measure what the engine's work costs on this machine, once, in a few seconds; returns the file that keeps it.

    Plans are reckoned with it from then on; until then with typical values.

    >>> import dovetail as dv
    >>> dv.calibrate().name  # doctest: +SKIP
    'weights.json'
    """
    from dovetail.plan.calibrate import save_weights
    from dovetail.runtime.calibration import calibrate as measure

    return save_weights(measure())


def report(running: Any, query: Any = None, *, name: str | None = None, folder: "str | Path | None" = None) -> Any:
    """Have a running join write reports, about one a second, for ``dovetail dashboard`` to show.

    ``running`` is a run, or Spark's streaming query (then ``query``, which it was made from, lets the page show the
    plan). Reports go to private files that stay small, in ``folder`` or one of the user's own; a run that cannot
    write them goes on and counts them as lost. Returns what reports: its ``folder``, and how many were ``lost``.

    >>> import dovetail as dv, pyarrow as pa, tempfile
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", window="10 seconds", schema=schema) for name in "AB")
    >>> run = dv.join(a, b, on="A.k = B.k").local()
    >>> reports = dv.report(run, name="pairs", folder=tempfile.mkdtemp())
    >>> run.push("A", [{"ts": 3_000_000, "k": 1}]).num_rows, run.close().num_rows, reports.lost
    (0, 0, 0)
    """
    from dovetail.runtime.start_reports import start_reports

    return start_reports(running, query, name, folder)


def spark_metrics(streaming_query: Any) -> list[dict[str, Any]]:
    """What a running pipeline did, per batch and bucket; the batches that Spark still remembers, oldest first.

    Rows in per stream, results, late rows, stored tuples and bytes, and the time spent packing, loading state,
    joining and writing state, with how each bucket's engine was found (cached, caught up, loaded).

    >>> import dovetail as dv
    >>> from types import SimpleNamespace
    >>> dv.spark_metrics(SimpleNamespace(recentProgress=[]))  # a query that has not run a batch yet
    []
    """
    from dovetail.runtime.spark.metrics import spark_metrics as metrics

    return metrics(streaming_query)
