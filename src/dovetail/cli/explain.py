"""``dovetail explain``: the plans of a pipeline file, without running it and without Java."""

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.pipeline_file import derived_queries, read_pipeline
from dovetail.cli.pipeline_groups import Part, parts_of
from dovetail.plan.explain_shared import explain_operator


def explain(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A pipeline file.")],
) -> None:
    """Show how the queries of a pipeline file would be run, or what is wrong with it."""
    pipeline, routes = read_pipeline(file)
    made = derived_queries(pipeline)
    derived = [f"stream {name} is made of results\n{query.explain()}" for name, query in made.items()]
    typer.echo("\n\n".join([*derived, *(_explained(part) for part in parts_of(routes))]))


def _explained(part: Part) -> str:
    sinks = [f"{route.sink.name} ({route.sink.format})" for route in part.routes]
    if len(sinks) == 1:
        return f"{sinks[0]} runs by itself: {part.why}\n{part.routes[0].query.explain()}"
    (operator,) = part.groups.plans.values()
    return f"{', '.join(sinks)} share one join\n{explain_operator(operator)}"
