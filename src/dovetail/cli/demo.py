"""``dovetail demo``: two streams of made-up sensors joined on Spark, shown as it happens."""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Annotated

import pyarrow as pa
import typer
from rich.console import Console

from dovetail.cli.dashboard import open_page
from dovetail.cli.data_centre.pipeline import Pipeline, running, spark_in
from dovetail.cli.data_centre.screen import Screen, progress_line, summary_lines
from dovetail.cli.data_centre.sensors import CONDITION, RACKS
from dovetail.cli.data_centre.tally import Tally
from dovetail.cli.java import complaint_about_java
from dovetail.errors import DovetailError
from dovetail.runtime.start_reports import start_reports

LOOK_EVERY = 0.2  # seconds: Ctrl-C seems to act at once
REPORTS = "reports"

See = Callable[[pa.Table], None]


def demo(
    seconds: Annotated[float, typer.Option(min=1, help="How long to go on once rows flow.")] = 20,
    stay: Annotated[bool, typer.Option("--stay", help="Go on until Ctrl-C.")] = False,
    page: Annotated[bool, typer.Option("--page", help="Show it on a page, too; the page stays until Ctrl-C.")] = False,
) -> None:
    """Join temperatures and humidities of a made-up data centre on Spark, in this terminal."""
    complaint = complaint_about_spark()
    if complaint:
        typer.echo(complaint, err=True)
        raise typer.Exit(1)
    folder = Path(tempfile.mkdtemp(prefix="dovetail-demo-"))
    try:
        failure = run_in(folder, Screen(Console()), None if stay else seconds, page)
    except (DovetailError, RuntimeError) as error:  # Spark's own errors are RuntimeErrors
        failure = str(error).splitlines()[0]
    if failure:
        from dovetail.runtime.spark.chatter import chatter

        chatter.keep()
        typer.echo(f"{failure}\nWhat Spark had to say about it is in {folder}.", err=True)
        raise typer.Exit(1)
    shutil.rmtree(folder, ignore_errors=True)


def complaint_about_spark() -> str | None:
    """One sentence that says what to do if Spark cannot run here; None if it can."""
    if find_spec("pyspark") is None:
        return "The demo runs on Spark, which is not installed: pip install 'dovetail[spark]', and try again."
    return complaint_about_java()


def run_in(folder: Path, screen: Screen, seconds: float | None, page: bool = False) -> str | None:
    """Start everything, watch it, sum it up; returns why it failed, if it did."""
    tally, stop, cores = Tally(), Event(), os.cpu_count() or 1
    with ExitStack() as at_the_end, screen:
        if page:
            shown = open_page(folder / REPORTS)
            at_the_end.callback(shown.stop)
            screen.line(f"The page is at {shown.address}")
        screen.line(f"Alarms where {CONDITION} within one minute, for {RACKS:,} racks.")
        screen.step(f"starting Spark on {cores} cores ...")
        with spark_in(folder) as session:
            signal.signal(signal.SIGINT, lambda number, frame: stop.set())
            screen.step("first micro-batch: starting Python workers (the first time, they compile kernels) ...")
            with running(session, folder) as pipeline, reporting(pipeline, folder / REPORTS if page else None) as see:
                failure = watch(pipeline, tally, screen, stop, seconds, see=see)
            screen.rest()
            for line in ["", *summary_lines(tally, cores)]:
                screen.line(line)
        if page and screen.stays and not failure:
            screen.line("The page stays until Ctrl-C.")
            stop.wait()
    return failure


@contextmanager
def reporting(pipeline: Pipeline, folder: Path | None) -> Iterator[See | None]:
    """Reports of the demo for its page, if it has one; gives what shows them some alarms."""
    if folder is None:
        yield None
        return
    reports = start_reports(pipeline.query, pipeline.made_from, "hot and wet", folder)
    yield reports.see
    reports.finish()


def watch(
    pipeline: Pipeline,
    tally: Tally,
    screen: Screen,
    stop: Event,
    seconds: float | None,
    clock: Callable[[], float] = monotonic,
    see: See | None = None,
) -> str | None:
    """Show what comes until it is time to stop; the time counts from the end of the first micro-batch."""
    started: float | None = None
    while not stop.is_set():
        failure = pipeline.failure()
        if failure:
            return failure
        if show_batch(pipeline, tally, screen, see) and started is None:
            started = clock()
        if started is not None:
            screen.progress(progress_line(tally, clock() - started))
            if seconds is not None and clock() - started >= seconds:
                return None
        stop.wait(LOOK_EVERY)
    return None


def show_batch(pipeline: Pipeline, tally: Tally, screen: Screen, see: See | None = None) -> bool:
    """Count and show what has come since the last look; whether a micro-batch was among it."""
    alarms = pipeline.alarms()
    if alarms is not None and alarms.num_rows:
        tally.add_alarms(alarms)
        screen.alarms(alarms)
        if see:
            see(alarms)
    batches = pipeline.batches_after(tally.last)
    for batch in batches:
        tally.add(batch)
    return bool(batches)
