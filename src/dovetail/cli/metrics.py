"""``dovetail metrics``: numbers of running joins for Prometheus or OpenTelemetry, until Ctrl-C."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.dashboard import existing_reports, until_told
from dovetail.dashboard.board import Board

PORT = 9464  # where OpenTelemetry's own Prometheus exporters listen
_FAILURE = 1  # the exit status of Unix for a command that failed


def metrics(
    folder: Annotated[
        Path | None, typer.Argument(help="Where joins report to; without one, where they do by themselves.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where Prometheus scrapes; 0 takes any.")] = PORT,
    host: Annotated[str, typer.Option(help="Who may look: this machine alone, unless told otherwise.")] = "127.0.0.1",
    otlp: Annotated[
        str | None, typer.Option(help="Push to this OTLP address instead, such as http://localhost:4318/v1/metrics.")
    ] = None,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two pushes.")] = 10.0,
) -> None:
    """Export what running joins report, to Prometheus (scraped) or OpenTelemetry (pushed)."""
    board = Board(existing_reports(folder))
    board.look()
    try:
        stop = _pushing(board, otlp, every) if otlp else _serving(board, host, port)
    except ModuleNotFoundError as error:
        typer.echo(f"There is no module {error.name}: pip install dovetail[metrics]", err=True)
        raise typer.Exit(_FAILURE) from None
    except OSError as error:
        typer.echo(f"Cannot listen on {host}:{port}: {error}", err=True)
        raise typer.Exit(_FAILURE) from None
    until_told()
    stop()


def _serving(board: Board, host: str, port: int) -> Callable[[], None]:
    from dovetail.dashboard.prometheus import PrometheusEndpoint

    endpoint = PrometheusEndpoint(board, host, port)
    typer.echo(f"Prometheus finds the metrics at {endpoint.address} (Ctrl-C ends it)")
    return endpoint.stop


def _pushing(board: Board, otlp: str, every_s: float) -> Callable[[], None]:
    from dovetail.dashboard.opentelemetry import push_metrics

    provider = push_metrics(board, otlp, every_s)
    typer.echo(f"Metrics go to {otlp} every {every_s:g} seconds (Ctrl-C ends it)")
    return provider.shutdown
