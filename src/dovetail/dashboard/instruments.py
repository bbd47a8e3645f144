"""What is exported of every join: one list of instruments, from which each exporter makes its own form.

    dovetail.stream.late {row}     ->  Prometheus  dovetail_stream_late_rows_total{join="alarms", stream="T"}
                                   ->  OpenTelemetry  dovetail.stream.late, unit {row}, join=alarms, stream=T

Names and units follow OpenTelemetry; Prometheus spells the unit out at the end of the name.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dovetail.dashboard.incoming import Numbers
from dovetail.dashboard.joins import Join
from dovetail.dashboard.shedding import dropped_of, numbers_of

Labels = dict[str, str]
Reading = tuple[Labels, float]
Read = Callable[[Join], Iterable[Reading]]

_MICROSECONDS = 1e-6  # reports give times in microseconds, exporters seconds
_SPELLED = {"s": "seconds", "By": "bytes", "1": "ratio", "{row}": "rows", "{tuple}": "tuples", "{result}": "results"}


@dataclass(frozen=True)
class Instrument:
    """One number of a join, or one per stream or query: its name, unit and meaning, and how to read it."""

    name: str
    kind: Literal["counter", "gauge"]
    unit: str
    about: str
    labels: tuple[str, ...]
    read: Read

    @property
    def prometheus_name(self) -> str:
        """Without the ending ``_total``, which its library adds to counters."""
        base, unit = self.name.replace(".", "_"), _SPELLED.get(self.unit, "")
        return base if not unit or base.endswith(unit) else f"{base}_{unit}"


def _streams(key: str, scale: float = 1.0) -> Read:
    def read(join: Join) -> Iterator[Reading]:
        if join.metrics is not None:
            yield from _named("stream", join.metrics.streams, key, scale)

    return read


def _windows(key: str) -> Read:
    def read(join: Join) -> Iterator[Reading]:
        if join.metrics is not None:
            yield from _named("stream", join.metrics.windows, key)

    return read


def _queries(key: str) -> Read:
    def read(join: Join) -> Iterator[Reading]:
        if join.metrics is not None:
            yield from _named("query", join.metrics.queries, key)

    return read


def _named(label: str, values: dict[str, Numbers], key: str, scale: float = 1.0) -> Iterator[Reading]:
    yield from (({label: name}, own[key] * scale) for name, own in values.items() if key in own)


def _whole(key: str, scale: float = 1.0) -> Read:
    def read(join: Join) -> Iterator[Reading]:
        if join.metrics is not None and key in join.metrics.whole:
            yield {}, join.metrics.whole[key] * scale

    return read


def _budget(key: str) -> Read:
    def read(join: Join) -> Iterator[Reading]:
        found = numbers_of(join.metrics.more) if join.metrics is not None else {}
        if key in found:
            yield {}, found[key]

    return read


def _shed(join: Join) -> Iterator[Reading]:
    found = dropped_of(join.metrics.more) if join.metrics is not None else {}
    yield from (({"stream": name}, count) for name, count in found.items())


def _batch(join: Join) -> Iterator[Reading]:
    if join.metrics is not None and "seconds" in join.metrics.batch:
        yield {}, join.metrics.batch["seconds"]


def _last_report(join: Join) -> Iterator[Reading]:
    yield {}, join.at


_STREAM, _QUERY = ("stream",), ("query",)

INSTRUMENTS: tuple[Instrument, ...] = (
    Instrument("dovetail.stream.rows", "counter", "{row}", "Rows that have come.", _STREAM, _streams("rows")),
    Instrument("dovetail.stream.late", "counter", "{row}", "Rows later than allowed.", _STREAM, _streams("late")),
    Instrument("dovetail.stream.ahead", "counter", "{row}", "Rows too far ahead.", _STREAM, _streams("ahead")),
    Instrument("dovetail.stream.null_time", "counter", "{row}", "No event time.", _STREAM, _streams("null_time")),
    Instrument("dovetail.stream.repeated", "counter", "{row}", "Repeats of rows.", _STREAM, _streams("repeated")),
    Instrument("dovetail.stream.filtered", "counter", "{row}", "Own conditions fail.", _STREAM, _streams("filtered")),
    Instrument("dovetail.stream.shed", "counter", "{row}", "Kept out by a budget.", _STREAM, _shed),
    Instrument("dovetail.stream.waiting", "gauge", "{row}", "Rows that wait.", _STREAM, _streams("waiting")),
    Instrument("dovetail.stream.awaited_by", "gauge", "{row}", "Waiting for it.", _STREAM, _streams("awaited_by")),
    Instrument(
        "dovetail.stream.watermark_timestamp", "gauge", "s", "The stream's watermark, in seconds since 1970.", _STREAM,
        _streams("watermark", _MICROSECONDS),
    ),
    Instrument("dovetail.window.tuples", "gauge", "{tuple}", "Tuples in the window.", _STREAM, _windows("stored")),
    Instrument("dovetail.window.size", "gauge", "By", "Bytes of the window.", _STREAM, _windows("bytes")),
    Instrument("dovetail.results", "counter", "{result}", "Results given out.", (), _whole("results")),
    Instrument("dovetail.held", "gauge", "{result}", "Results that wait for their order.", (), _whole("held")),
    Instrument("dovetail.late", "counter", "{result}", "Results too late for their order.", (), _whole("late_results")),
    Instrument(
        "dovetail.frontier_timestamp", "gauge", "s", "How far all streams have come, in seconds since 1970.", (),
        _whole("frontier", _MICROSECONDS),
    ),
    Instrument("dovetail.completeness", "gauge", "1", "Share of the exact results.", (), _budget("completeness")),
    Instrument("dovetail.completeness_low", "gauge", "1", "Its lower bound.", (), _budget("completeness_low")),
    Instrument("dovetail.throttle", "gauge", "1", "Share of the full work that is done.", (), _budget("throttle")),
    Instrument("dovetail.query.results", "counter", "{result}", "Results of one query.", _QUERY, _queries("results")),
    Instrument("dovetail.query.response", "gauge", "s", "Time to a query's results.", _QUERY, _queries("response_s")),
    Instrument("dovetail.batch.duration", "gauge", "s", "The last micro-batch on Spark.", (), _batch),
    Instrument("dovetail.report_timestamp", "gauge", "s", "The last report, in seconds since 1970.", (), _last_report),
)  # fmt: skip
