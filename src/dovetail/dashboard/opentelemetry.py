"""Metrics of running joins for OpenTelemetry: the same instruments, observed whenever a reader collects.

    meter_provider = MeterProvider(metric_readers=[...])       whatever the application has set up
    observe_joins(board, meter_provider.get_meter("dovetail"))

``push_metrics`` sets a provider up that pushes to a collector by OTLP over HTTP, for use without an application.
"""

from collections.abc import Callable, Iterable, Iterator

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from dovetail.dashboard.board import Board
from dovetail.dashboard.instruments import INSTRUMENTS, Instrument


def observe_joins(board: Board, meter: Meter) -> None:
    """Register every instrument; values are read from the board when they are collected."""
    for instrument in INSTRUMENTS:
        make = meter.create_observable_counter if instrument.kind == "counter" else meter.create_observable_gauge
        make(instrument.name, [_callback(board, instrument)], unit=instrument.unit, description=instrument.about)


def _callback(board: Board, instrument: Instrument) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observe(options: CallbackOptions) -> Iterator[Observation]:
        for join, _ in board.entries():
            for labels, value in instrument.read(join):
                yield Observation(value, {"join": join.name, "runtime": join.runtime, **labels})

    return observe


def push_metrics(board: Board, endpoint: str, every_s: float) -> MeterProvider:
    """Push to an OTLP endpoint such as http://localhost:4318/v1/metrics until the provider is shut down."""
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint), export_interval_millis=every_s * 1000)
    provider = MeterProvider([reader], Resource.create({"service.name": "dovetail"}))
    observe_joins(board, provider.get_meter("dovetail"))
    return provider
