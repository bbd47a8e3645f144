"""``dovetail calibrate``: measure what the engine's work costs on this machine, and remember it."""

import typer

from dovetail.api import calibrate as measure


def calibrate() -> None:
    """Measure this machine for the planner; takes a few seconds, once."""
    path = measure()
    typer.echo(f"The weights of this machine are kept in {path}")
