"""``dovetail run``: the queries of a pipeline file on Spark, each into its sink, as few joins as that takes.

Ends with 0 when it was stopped or came to its end, 1 when Spark or a query failed, 2 when the file has a mistake.
"""

import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from dovetail.api import Query
from dovetail.api.shared_query import SharedQuery
from dovetail.cli.file_order import order_warnings
from dovetail.cli.java import complaint_about_java
from dovetail.cli.pipeline_file import MISTAKE, read_pipeline, routed
from dovetail.cli.pipeline_groups import Part, parts_of
from dovetail.cli.pipeline_starts import check_finish, finish_all, start_all, starts
from dovetail.cli.progress import Progress, Running
from dovetail.errors import DovetailError
from dovetail.runtime.spark.shared_checkpoint import past_of
from dovetail.runtime.start_reports import reports_folder, start_reports
from dovetail.sql import Pipeline
from dovetail.sql.declarations import StreamDeclaration

if TYPE_CHECKING:
    from dovetail.runtime.spark.frames import DataFrame, SparkSession

FAILURE = 1  # the exit status of Unix for a command that failed
LOOK_EVERY = 0.2  # seconds: Ctrl-C seems to act at once
_OWN_SCHEMA = ("kafka", "rate", "rate-micro-batch", "socket")


def run(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A pipeline file.")],
    once: Annotated[bool, typer.Option("--once", help="Take what there is now, then stop.")] = False,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after this long.")] = None,
    finish: Annotated[
        bool, typer.Option("--finish", help="With --once: then end, and write what is still held.")
    ] = False,
) -> None:
    """Run the queries of a pipeline file on Spark, until Ctrl-C."""
    if finish and not once:
        typer.echo("--finish writes what is held once all input is read; add --once", err=True)
        raise typer.Exit(MISTAKE)
    if once and seconds is not None:
        typer.echo("--once stops by itself; leave out --seconds", err=True)
        raise typer.Exit(MISTAKE)
    pipeline, _ = read_pipeline(file)
    no_pyspark = "Pipelines run on Spark, which is not installed: pip install 'dovetail[spark]', and try again."
    complaint = complaint_about_java() if find_spec("pyspark") else no_pyspark
    failure = complaint or _on_spark(pipeline, once, seconds, file.name, finish)
    if failure:
        typer.echo(failure if complaint else f"{failure}{_and_the_log()}", err=True)
        raise typer.Exit(FAILURE)


def _and_the_log() -> str:
    from dovetail.runtime.spark.chatter import chatter

    log = chatter.keep()
    return f" (what Spark said is in {log})" if log else ""


def _on_spark(pipeline: Pipeline, once: bool, seconds: float | None, name: str, finish: bool) -> str | None:
    from dovetail.runtime.spark.session import spark_session

    stop = Event()
    session = spark_session(name=f"dovetail run {name}")
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        options: dict[str, Any] = {"once": once, "seconds": seconds, "finish": finish, "reports": reports_folder()}
        return run_on(session, pipeline, stop, Console(), **options)
    finally:
        session.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def run_on(
    session: "SparkSession",
    pipeline: Pipeline,
    stop: Event,
    console: Console,
    *,
    once: bool = False,
    seconds: float | None = None,
    reports: Path | None = None,
    finish: bool = False,
) -> str | None:
    """Start every query, watch them until it is time to stop, stop them; returns why it failed, if it did.

    With a folder for ``reports``, ``dovetail dashboard`` shows them meanwhile. With ``finish``, what queries hold when
    they have ended is written as if their input had.
    """
    for warning in order_warnings(pipeline.streams):
        console.print(warning, markup=False, highlight=False, soft_wrap=True)
    with ExitStack() as stopping:
        try:
            parts = parts_of(routed(pipeline, lambda declared: frame(session, declared)))
            begun = starts(parts, lambda checkpoint: past_of(session, checkpoint))
            if finish:
                check_finish(begun)
            started = [Running(*each) for each in start_all(session, begun, once, stopping)]
        except DovetailError as error:
            return str(error)
        except Exception as error:
            if not type(error).__module__.startswith("pyspark."):
                raise
            return str(error).splitlines()[0]
        reporting = report_on(started, parts, reports) if reports is not None else []
        with Progress(console, started) as progress:
            failure = watch(started, progress, stop, seconds)
        if finish and failure is None and not stop.is_set():
            finish_all(session, begun)
    for reports_of in reporting:
        reports_of.finish()
    for each in started:
        each.drain()
        for line in [*each.lost(), each.summary()]:
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    return failure


def report_on(started: Sequence[Running], parts: Sequence[Part], folder: Path) -> list[Any]:
    """Have every join report, with the plan of the part that it is."""
    made_from = {part.name: _query_of(part) for part in parts}
    return [start_reports(each.query, made_from.get(each.name), each.name, folder) for each in started]


def _query_of(part: Part) -> Query | SharedQuery:
    return part.routes[0].query if len(part.routes) == 1 else SharedQuery(part.groups)


def frame(session: "SparkSession", declared: StreamDeclaration) -> "DataFrame":
    """A stream's rows; sources that bring their own columns have them cast, others are told what to read.

    A table without a time is read once.
    """
    columns = [(f"`{column.name.replace('`', '``')}`", column.written) for column in declared.columns]
    own = declared.format.lower() in _OWN_SCHEMA
    read: Any = (session.readStream if declared.time else session.read).format(declared.format)
    read = read.options(**declared.options)
    read = read if own else read.schema(", ".join(f"{name} {type}" for name, type in columns))
    rows: DataFrame = read.load()
    return rows.selectExpr(*(f"CAST({name} AS {type}) AS {name}" for name, type in columns)) if own else rows


def watch(
    running: Sequence[Running],
    progress: Progress,
    stop: Event,
    seconds: float | None = None,
    clock: Callable[[], float] = monotonic,
) -> str | None:
    """Show what happens until all have ended, one has failed, or it is time to stop."""
    began = clock()
    end = None if seconds is None else began + seconds
    while not stop.is_set():
        progress.show((clock() - began) / seconds if seconds else None)
        failure = next(filter(None, (each.failure() for each in running)), None)
        ended = all(not each.query.isActive for each in running)
        if failure or ended or (end is not None and clock() >= end):
            return failure
        stop.wait(LOOK_EVERY)
    return None
