"""A streaming query on Spark whose queries come and go while it runs.

    add(query, sink)    its sink is known -> the set is a file -> the next batch brings it to all buckets
    remove(name)        the next batch ends it

The sink is known before the file is there, and stays known after: whatever batch brings rows of a query finds it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dovetail.errors import QueryError, nearest
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_queries import member_of
from dovetail.runtime.spark.output import rows_of
from dovetail.runtime.spark.pipeline import session_of, spark_changing
from dovetail.runtime.spark.query_set import QuerySet, bare
from dovetail.runtime.spark.shared_checkpoint import lines_of
from dovetail.runtime.spark.sinks import known, sink_of, write_once


class ChangingQuery:
    """What ``shared.write(..., changes=True)`` returns: Spark's streaming query, with queries that come and go."""

    def __init__(self, session: SparkSession, queries: QuerySet, checkpoint: str) -> None:
        self._session = session
        self._queries = queries
        self._checkpoint = checkpoint
        self._streaming: Any = None

    def __getattr__(self, name: str) -> Any:
        """Whatever else Spark's own query has."""
        return getattr(self._streaming, name)

    @property
    def names(self) -> tuple[str, ...]:
        """The queries there are, from the next batch on."""
        return tuple(member.name for member in self._queries.members)

    def add(self, query: Any, sink: Any) -> str:
        """Take in another query with the next batch; returns its name.

        It sees the results whose last-arriving member comes from then on, as with a run of this process.
        """
        taken = {member.name for member in (*self._queries.members, *self._queries.removed)}
        unnamed = next(name for number in range(1, len(taken) + 2) if (name := f"q{number}") not in taken)
        member = bare(member_of(query, unnamed))
        Groups.of(self._queries.members, self._queries.schedule).adding(member)
        former = next((each for each in self._queries.removed if each.name == member.name), member)
        if former.query.schema != member.query.schema:
            raise QueryError(
                f"add: there was a query {member.name!r} with other columns, whose rows may still be under way; "
                "take another name"
            )
        sink_of(member, sink)
        after = self._queries.followed_by([*self._queries.members, member])
        self._change(replace(after, sinks={**after.sinks, member.name: sink}))
        return member.name

    def remove(self, name: str) -> None:
        """End a query with the next batch; the others do not notice."""
        members = [member for member in self._queries.members if member.name != name]
        if len(members) == len(self._queries.members):
            raise QueryError(f"remove: there is no query {name!r}; {nearest(name, list(self.names))}")
        if not members:
            raise QueryError(f"remove: {name!r} is the only query; stop() ends it")
        self._change(self._queries.followed_by(members))

    def _change(self, after: QuerySet) -> None:
        after.shared()
        before, self._queries = self._queries, after
        try:
            _record(self._session, self._checkpoint, after)
        except Exception:
            self._queries = before
            raise

    def start(self, frame: DataFrame, trigger: Mapping[str, Any]) -> None:
        """Begin, or go on from the checkpoint."""
        writing = frame.writeStream.foreachBatch(self._write).option("checkpointLocation", self._checkpoint)
        self._streaming = (writing.trigger(**trigger) if trigger else writing).start()

    def _write(self, blobs: DataFrame, batch: int) -> None:
        queries, blobs = self._queries, blobs.persist()
        try:
            for member in (*queries.members, *queries.removed):
                given = queries.sinks.get(member.name)
                rows = rows_of(blobs, member.name, member.query.schema, member.query.order != "none")
                if given is not None and (member in queries.members or not rows.isEmpty()):
                    write_once(sink_of(member, given), self._checkpoint, rows, batch)
        finally:
            blobs.unpersist()


def write_changing(
    groups: Groups, given: Mapping[str, Any], checkpoint: str, trigger: Mapping[str, Any], session: Any
) -> ChangingQuery:
    """Start queries that may come and go, or go on with those that the checkpoint knows."""
    session = session or session_of(groups.members[0].query)
    last = _last(session, checkpoint)
    queries = QuerySet.started(groups, last)
    queries = replace(queries, sinks={**queries.sinks, **given})
    _check_sinks(queries, given)
    shared = queries.shared()
    data = {stream.name: stream.data for stream in groups.streams}
    query = shared.plan.query
    streams = tuple(replace(stream, data=data[stream.name]) for stream in query.streams)
    plan = replace(shared.plan, query=replace(query, streams=streams))
    if last is None or queries.version != last.version:
        _record(session, checkpoint, queries)
    frame = spark_changing(replace(shared, plan=plan), session, _folder(checkpoint))
    running = ChangingQuery(session, queries, checkpoint)
    running.start(frame, trigger)
    return running


def _check_sinks(queries: QuerySet, given: Mapping[str, Any]) -> None:
    for member in queries.members:
        sink_of(member, queries.sinks[known(member.name, queries.sinks)])
    names = [member.name for member in (*queries.members, *queries.removed)]
    stray = next((name for name in given if name not in names), None)
    if stray is not None:
        raise QueryError(f"write: there is no query {stray!r}; {nearest(stray, names)}")


def _folder(checkpoint: str) -> str:
    return f"{checkpoint}/queries"


def _last(session: SparkSession, checkpoint: str) -> QuerySet | None:
    """The newest set that the checkpoint knows."""
    found = map(QuerySet.from_text, lines_of(session, _folder(checkpoint)))
    return max(found, key=lambda queries: queries.version, default=None)


def _record(session: SparkSession, checkpoint: str, queries: QuerySet) -> None:
    told = session.createDataFrame([(queries.to_text(),)], "value string")
    told.coalesce(1).write.mode("append").text(_folder(checkpoint))
