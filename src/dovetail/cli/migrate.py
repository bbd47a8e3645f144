"""``dovetail migrate``: checkpoints of a pipeline file made into those of a changed one, which goes on from them.

Ends with 0 when all were migrated, 1 when one could not be, 2 when a file has a mistake or there is nothing to migrate.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.java import complaint_about_java
from dovetail.cli.pipeline_file import MISTAKE, Routed, read_pipeline, routed
from dovetail.cli.run import FAILURE, frame
from dovetail.cli.state import shown
from dovetail.errors import DovetailError, StateError
from dovetail.sql import Pipeline

if TYPE_CHECKING:
    from dovetail.runtime.spark.frames import SparkSession


def migrate(
    old: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The pipeline file as it was run.")],
    new: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The same, changed; with new checkpoints.")],
    partitions: Annotated[int | None, typer.Option(min=1, help="Partitions of the new state.")] = None,
) -> None:
    """Have a changed pipeline file go on where the old one was stopped: same streams and sinks, new checkpoints."""
    (before, _), (after, _) = read_pipeline(old), read_pipeline(new)
    missing = None if find_spec("pyspark") else "Checkpoints are Spark's, which is not installed: pip install pyspark."
    complaint = missing or complaint_about_java()
    if complaint:
        typer.echo(complaint, err=True)
        raise typer.Exit(FAILURE)
    from dovetail.runtime.spark.session import spark_session
    from dovetail.runtime.spark.streaming_run import SHUFFLE_PARTITIONS

    session = spark_session(
        name="dovetail migrate", settings={} if partitions is None else {SHUFFLE_PARTITIONS: str(partitions)}
    )
    try:
        if not migrate_all(session, before, after):
            typer.echo(f"no sink of {old} has another checkpoint in {new}; give those that changed a new one", err=True)
            raise typer.Exit(MISTAKE)
    except DovetailError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(FAILURE) from None
    finally:
        session.stop()


def migrate_all(session: "SparkSession", before: Pipeline, after: Pipeline) -> int:
    """Every sink whose checkpoint is another one now; how many there are."""
    was, is_now = (
        {route.sink.name: route for route in routed(each, lambda declared: frame(session, declared))}
        for each in (before, after)
    )
    moved = [(was[name], route) for name, route in is_now.items() if name in was and _moved(was[name], route)]
    for one, other in moved:
        _migrate(session, one, other)
    return len(moved)


def _moved(one: Routed, other: Routed) -> bool:
    return None not in (one.sink.checkpoint, other.sink.checkpoint) and one.sink.checkpoint != other.sink.checkpoint


def _migrate(session: "SparkSession", one: Routed, other: Routed) -> None:
    from dovetail.runtime.spark.shared_checkpoint import past_of

    source, into = str(one.sink.checkpoint), str(other.sink.checkpoint)
    if past_of(session, source).home:
        raise StateError(f"sink {one.sink.name!r}: its query shared a join with others, whose state cannot be divided")
    since = other.query.migrate(source, into, of=one.query, session=session)
    told = "nothing is missing" if since is None else f"complete from {shown(since)}"
    typer.echo(f"{one.sink.name}: {source} -> {into}, {told}")
