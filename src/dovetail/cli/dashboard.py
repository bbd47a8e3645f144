"""``dovetail dashboard``: the page that shows running joins, until Ctrl-C."""

import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from dovetail.dashboard.server import Dashboard
from dovetail.runtime.start_reports import reports_folder

PORT = 8347  # a port that no well-known service uses
_FAILURE = 1  # the exit status of Unix for a command that failed


def dashboard(
    folder: Annotated[
        Path | None, typer.Argument(help="Where joins report to; without one, where they do by themselves.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; another if it is taken.")] = PORT,
    host: Annotated[str, typer.Option(help="Who may look: this machine alone, unless told otherwise.")] = "127.0.0.1",
) -> None:
    """Show running joins on a page, from the reports that they write."""
    reports = existing_reports(folder)
    try:
        page = open_page(reports, host, port)
    except OSError as error:
        typer.echo(f"Cannot listen on {host}: {error}", err=True)
        raise typer.Exit(_FAILURE) from None
    typer.echo(f"The page is at {page.address} (Ctrl-C ends it)")
    if host not in ("127.0.0.1", "::1", "localhost"):
        typer.echo(f"Whoever can reach {host} can read it: names, numbers and some results.", err=True)
    until_told()
    page.stop()


def existing_reports(folder: Path | None) -> Path:
    """Where joins report to; a folder that is not there is said, and ends the program."""
    if folder is not None and not folder.is_dir():
        typer.echo(f"There is no folder {folder}; give the one that joins report to, or none.", err=True)
        raise typer.Exit(_FAILURE)
    return reports_folder(folder)


def until_told() -> None:
    """Wait for Ctrl-C, or for somebody to end the process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)


def open_page(folder: Path, host: str = "127.0.0.1", port: int = PORT) -> Dashboard:
    """The page over a folder; on any free port if this one is taken."""
    page = None
    with suppress(OSError):
        page = Dashboard(folder, host, port)
    page = page or Dashboard(folder, host, 0)
    page.start()
    return page
