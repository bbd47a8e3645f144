"""``dovetail why``: why a row has not come out of a query of a pipeline file, by its checkpoint or a snapshot."""

import json
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from dovetail.cli.pipeline_file import MISTAKE, Routed, read_pipeline
from dovetail.cli.state import read_held
from dovetail.errors import DovetailError, nearest
from dovetail.runtime.rows import as_table
from dovetail.runtime.why import why_anywhere


def why(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The pipeline file.")],
    held: Annotated[Path, typer.Argument(exists=True, help="The checkpoint's folder, or a snapshot's file.")],
    stream: Annotated[str, typer.Argument(help="The stream, as the query names it.")],
    row: Annotated[str, typer.Argument(help='The row as JSON: \'{"ts": "2026-07-01 12:00:10", "location": "attic"}\'')],
    sink: Annotated[str | None, typer.Option(help="Whose query, where the file has several.")] = None,
) -> None:
    """Say why a row has not come out: late, filtered, waiting for a watermark, no partner yet."""
    _, routes = read_pipeline(file)
    try:
        query = _chosen(routes, sink).query.model
        names = {each.name: each for each in query.streams}
        if stream not in names:
            raise DovetailError(f"the query has no stream {stream!r}; {nearest(stream, list(names))}")
        rows = pa.table(as_table(names[stream], [_row(row)], query.columns_tested(stream)))
    except DovetailError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MISTAKE) from None
    _, states = read_held(held)
    found = why_anywhere(query, [changes for _, _, changes in states], names[stream], rows)
    typer.echo(f"{found.reason}: {found}")


def _chosen(routes: list[Routed], sink: str | None) -> Routed:
    named = {route.sink.name: route for route in routes}
    if sink is None and len(routes) == 1:
        return routes[0]
    if sink not in named:
        raise DovetailError(f"say whose query is meant: --sink with one of {', '.join(named)}")
    return named[sink]


def _row(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise DovetailError(f"the row is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise DovetailError(f"the row is one JSON object, got {text}")
    return found
