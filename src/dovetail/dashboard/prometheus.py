"""Metrics of running joins for Prometheus: an endpoint that is scraped, over the reports of a folder.

One endpoint serves every join that reports to the folder, embedded or on Spark, in whichever process. Prometheus' own
client library writes the format and serves it.
"""

from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dovetail.dashboard.board import Board
from dovetail.dashboard.instruments import INSTRUMENTS, Instrument
from dovetail.dashboard.joins import Join

_JOIN = ("join", "runtime")


class JoinsCollector(Collector):
    """Reads the board whenever Prometheus asks."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def collect(self) -> Iterator[Metric]:
        """Every instrument, with a sample per join, stream or query."""
        joins = self._board.entries()
        up = GaugeMetricFamily("dovetail_running", "1 while the join goes on.", labels=(*_JOIN, "state"))
        for join, state in joins:
            up.add_metric([join.name, join.runtime, state], float(state in ("starting", "running", "quiet")))
        yield up
        for instrument in INSTRUMENTS:
            yield _family(instrument, [join for join, _ in joins])


def _family(instrument: Instrument, joins: list[Join]) -> Metric:
    made = CounterMetricFamily if instrument.kind == "counter" else GaugeMetricFamily
    family = made(instrument.prometheus_name, instrument.about, labels=(*_JOIN, *instrument.labels))
    for join in joins:
        for labels, value in instrument.read(join):
            family.add_metric([join.name, join.runtime, *(labels[name] for name in instrument.labels)], value)
    return family


class PrometheusEndpoint:
    """Serves ``/metrics`` until stopped; ``port=0`` takes any that is free."""

    def __init__(self, board: Board, host: str = "127.0.0.1", port: int = 0) -> None:
        registry = CollectorRegistry()
        registry.register(JoinsCollector(board))
        self._stop = Event()
        self._server: Any
        self._server, self._thread = start_http_server(port, host, registry)
        self._reader = Thread(target=board.read_on, args=[self._stop], name="dovetail reads reports", daemon=True)
        self._reader.start()

    @property
    def address(self) -> str:
        """What Prometheus scrapes."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/metrics"

    def stop(self) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()
        self._reader.join()
