"""``dovetail explain``: the plans of a pipeline file, without running it and without Java."""

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.pipeline_file import read_pipeline


def explain(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A pipeline file.")],
) -> None:
    """Show how the queries of a pipeline file would be run, or what is wrong with it."""
    _, routes = read_pipeline(file)
    plans = [f"{route.sink.name} ({route.sink.format})\n{route.query.explain()}" for route in routes]
    typer.echo("\n\n".join(plans))
