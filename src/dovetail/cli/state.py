"""``dovetail state``: what a checkpoint on Spark, or a snapshot of an embedded run, holds; nothing is changed."""

import json
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from dovetail.cli.java import complaint_about_java
from dovetail.engine.buffer.section import Changes
from dovetail.engine.operator.snapshot import read_snapshot
from dovetail.engine.operator.survey import Survey, survey_state
from dovetail.errors import DovetailError

FAILURE = 1  # the exit status of Unix for a command that failed
_COLUMNS = ("operator", "bucket", "stream", "tuples", "bytes", "oldest", "newest", "watermark", "waits")

Held = list[tuple[int, int | None, Changes]]  # by operator and bucket; a snapshot has no buckets


def state(
    path: Annotated[Path, typer.Argument(exists=True, help="A checkpoint's folder, or the file of a snapshot.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead of a table.")] = False,
) -> None:
    """Show what a checkpoint or a snapshot holds: tuples, bytes, times and watermarks by bucket and stream."""
    origin, held = read_held(path)
    found = [(at, bucket, survey) for at, bucket, changes in held for survey in survey_state(changes)]
    if as_json:
        operators = [{"operator": at, "bucket": bucket, **survey.to_json()} for at, bucket, survey in found]
        typer.echo(json.dumps({"query": origin, "operators": operators}, indent=2))
    else:
        Console(width=None if Console().is_terminal else 160).print(origin, _table(found), sep="\n\n", highlight=False)


def read_held(path: Path) -> tuple[str, Held]:
    """The query that wrote a checkpoint or snapshot, and its state; an error is shown and ends the program."""
    try:
        return _of_checkpoint(path) if path.is_dir() else _of_snapshot(path)
    except (DovetailError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(FAILURE) from None


def _of_snapshot(path: Path) -> tuple[str, Held]:
    fingerprint, changes = read_snapshot(path.read_bytes())
    return f"a snapshot of query {fingerprint}", [(0, None, changes)]


def _of_checkpoint(path: Path) -> tuple[str, Held]:
    missing = None if find_spec("pyspark") else "A checkpoint is read with Spark: pip install 'dovetail[spark]'."
    complaint = missing or complaint_about_java()
    if complaint:
        raise DovetailError(complaint)
    from dovetail.runtime.spark.read_state import read_state
    from dovetail.runtime.spark.session import spark_session

    session = spark_session(1, name="dovetail state")
    try:
        operators = read_state(session, path)
    finally:
        session.stop()
    held: Held = [(at, number, bucket.changes) for at, each in enumerate(operators) for number, bucket in each.items()]
    return next(bucket.origin for each in operators for bucket in each.values()), held


def _table(found: list[tuple[int, int | None, Survey]]) -> Table:
    table = Table(*_COLUMNS)
    for at, bucket, survey in found:
        for each in survey.streams:
            times = (shown(time) for time in (each.oldest_us, each.newest_us, each.watermark_us))
            waits = f"{each.waiting:,}" + (f" for {each.waits_for}" if each.waits_for else "") if each.waiting else ""
            numbers: tuple[Any, ...] = (at, "" if bucket is None else bucket, each.stream)
            table.add_row(*map(str, numbers), f"{each.tuples:,}", f"{each.bytes:,}", *times, waits)
        if survey.held:
            table.add_row(
                str(at), "" if bucket is None else str(bucket), "", "", "", "", "", "", f"{survey.held:,} results"
            )
    return table


def shown(time_us: int | None) -> str:
    """A time in microseconds, as people write it."""
    if time_us is None:
        return ""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)).strftime("%Y-%m-%d %H:%M:%S.%f")
