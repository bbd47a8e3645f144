"""Each query's rows of a batch into its own sink, exactly once each.

    batch 7 -> alarms/batch=7/...parquet        overwritten whole if the batch is repeated after a failure
            -> own function, Kafka, JDBC, ...   then <checkpoint>/sinks/<name>/1 says that 7 was done

Spark repeats a batch, with the same number and the same rows, if it failed before it was committed. A folder of files
is then replaced by an equal one. Other sinks are skipped if their mark is there; only if the driver dies between the
last row and the mark may such a sink see the batch twice, so a function of the user's is told the number.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dovetail.errors import QueryError, nearest
from dovetail.plan.share_queries import Member, SharedPlan
from dovetail.runtime.spark.checkpoint_files import check_open, last_batch, mark_finished
from dovetail.runtime.spark.finish import finish_shared
from dovetail.runtime.spark.types import quoted

FILES = ("parquet", "orc", "json", "csv", "text", "avro")
BATCH = "batch"


@dataclass(frozen=True)
class Sink:
    """Where one query's rows go: its columns, and a function that writes a batch."""

    name: str
    columns: tuple[str, ...]
    write: Callable[[DataFrame, int], None]
    repeats: bool


def write_shared(
    frame: DataFrame,
    members: Sequence[Member],
    given: Mapping[str, Any],
    checkpoint: str,
    trigger: dict[str, Any],
    name: str | None = None,
) -> Any:
    """Start the pipeline that writes every query's rows; a static one runs to its end and returns None."""
    sinks = _sinks(members, given)
    if not frame.isStreaming:
        return _write_batch(sinks, checkpoint, frame, 0)
    check_open(checkpoint)

    def write(rows: DataFrame, batch: int) -> None:
        _write_batch(sinks, checkpoint, rows, batch)

    writing = frame.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
    writing = writing.trigger(**trigger) if trigger else writing
    return (writing.queryName(name) if name else writing).start()


def finish_shared_into(
    plans: Sequence[SharedPlan],
    members: Sequence[Member],
    given: Mapping[str, Any],
    checkpoint: str,
    session: SparkSession | None,
) -> None:
    """Write what all queries still hold in a checkpoint as the batch after the last one."""
    sinks, batch = _sinks(members, given), last_batch(checkpoint) + 1
    frames = [finish_shared(plan, checkpoint, session) for plan in plans]
    mark_finished(checkpoint, batch)
    _write_batch(sinks, checkpoint, reduce(DataFrame.union, frames), batch)


def _sinks(members: Sequence[Member], given: Mapping[str, Any]) -> list[Sink]:
    sinks = [sink_of(member, given[known(member.name, given)]) for member in members]
    unknown = next((name for name in given if name not in {sink.name for sink in sinks}), None)
    if unknown is not None:
        raise QueryError(f"write: there is no query {unknown!r}; {nearest(unknown, [sink.name for sink in sinks])}")
    return sinks


def known(name: str, given: Mapping[str, Any]) -> str:
    """The name, if there is a sink for it."""
    if name not in given:
        raise QueryError(f"write: query {name!r} has no sink; {nearest(name, list(given))}")
    return name


def sink_of(member: Member, given: Any) -> Sink:
    """What a user gave as the sink of a query."""
    columns = tuple(member.query.schema.names)
    if callable(given):
        return Sink(member.name, columns, given, repeats=False)
    options = {"format": "parquet", "path": given} if isinstance(given, str) else dict(given)
    form, path = str(options.pop("format", "parquet")), options.pop("path", None)
    if form.lower() in FILES:
        if path is None:
            raise QueryError(f"write: the sink of query {member.name!r} has the format {form!r} and no path")
        return Sink(member.name, columns, _to_files(form, str(path), options), repeats=True)
    if path is not None:
        options["path"] = path
    return Sink(member.name, columns, _to_format(form, options), repeats=False)


def _to_files(form: str, path: str, options: Mapping[str, Any]) -> Callable[[DataFrame, int], None]:
    def write(rows: DataFrame, batch: int) -> None:
        rows.write.format(form).options(**options).mode("overwrite").save(f"{path}/{BATCH}={batch}")

    return write


def _to_format(form: str, options: Mapping[str, Any]) -> Callable[[DataFrame, int], None]:
    def write(rows: DataFrame, batch: int) -> None:
        rows.write.format(form).options(**options).mode("append").save()

    return write


def _write_batch(sinks: Sequence[Sink], checkpoint: str, rows: DataFrame, batch: int) -> None:
    """All sinks, from rows that are computed once."""
    rows = rows.persist()
    try:
        for sink in sinks:
            own = rows.where(F.col("query") == sink.name).select(*(F.col(quoted(name)) for name in sink.columns))
            write_once(sink, checkpoint, own, batch)
    finally:
        rows.unpersist()


def write_once(sink: Sink, checkpoint: str, rows: DataFrame, batch: int) -> None:
    """A sink's rows of a batch, unless they were written before."""
    if sink.repeats:
        sink.write(rows, batch)
        return
    mark = f"{checkpoint}/sinks/{sha256(sink.name.encode()).hexdigest()[:16]}/{batch % 2}"
    session = rows.sparkSession
    if not _done(session, mark, batch):
        sink.write(rows, batch)
        _note(session, mark, batch)


def _note(session: Any, mark: str, batch: int) -> None:
    session.range(batch, batch + 1).coalesce(1).write.mode("overwrite").parquet(mark)


def _done(session: Any, mark: str, batch: int) -> bool:
    """Whether a mark says that this batch was written; asked through Spark, wherever the checkpoint is.

    Marks of even and odd batches take turns, so there are never more than two, and writing one leaves the other.
    """
    try:
        return [row.id for row in session.read.parquet(mark).take(1)] == [batch]
    except Exception as error:
        if type(error).__name__ == "AnalysisException":
            return False
        raise
