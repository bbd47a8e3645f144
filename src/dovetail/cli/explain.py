"""``dovetail explain``: the plans of a pipeline file, without running it and without Java."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.pipeline_file import derived_queries, read_pipeline
from dovetail.cli.pipeline_groups import Part, parts_of
from dovetail.model.duration import duration_text
from dovetail.plan.explain_shared import explain_operator
from dovetail.plan.share_queries import SCHEDULES


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
        head, plan = f"{sinks[0]} runs by itself: {part.why}", part.routes[0].query.explain()
    else:
        (operator,) = part.groups.plans.values()
        head, plan = f"{', '.join(sinks)} share one join", explain_operator(operator)
    return "\n".join([head, *_runs(part), plan])


def _runs(part: Part) -> Iterator[str]:
    """When batches run, what is left of them for the next run, and in which order shared work is done."""
    sink = part.routes[0].sink
    if sink.trigger_us is not None:
        yield f"  a batch every {duration_text(sink.trigger_us)}"
    if sink.checkpoint is None:
        yield "  no checkpoint: every run starts afresh"
    if len(part.routes) > 1 and sink.schedule != SCHEDULES[0]:
        yield f"  inside a batch, {sink.schedule} windows first"
