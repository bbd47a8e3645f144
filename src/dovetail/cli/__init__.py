"""The command line: ``dovetail --help`` lists the commands."""

from importlib.metadata import version
from typing import Annotated

import typer

app = typer.Typer(help="Sliding-window joins over streams.", no_args_is_help=True, add_completion=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dovetail {version('dovetail')}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    app()
