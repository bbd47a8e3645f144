"""The command line: ``dovetail --help`` lists the commands."""

from typing import Annotated

import typer

from dovetail import __version__
from dovetail.cli.calibrate import calibrate as run_calibration
from dovetail.cli.dashboard import dashboard as show_dashboard
from dovetail.cli.demo import demo as run_demo
from dovetail.cli.explain import explain as explain_pipeline
from dovetail.cli.metrics import metrics as export_metrics
from dovetail.cli.migrate import migrate as migrate_pipeline
from dovetail.cli.run import run as run_pipeline
from dovetail.cli.state import state as show_state
from dovetail.cli.why import why as ask_why

app = typer.Typer(help="Sliding-window joins over streams.", no_args_is_help=True, add_completion=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dovetail {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


app.command("demo")(run_demo)
app.command("run")(run_pipeline)
app.command("explain")(explain_pipeline)
app.command("dashboard")(show_dashboard)
app.command("metrics")(export_metrics)
app.command("state")(show_state)
app.command("migrate")(migrate_pipeline)
app.command("why")(ask_why)
app.command("calibrate")(run_calibration)


def main() -> None:
    """Run the command line."""
    app()
