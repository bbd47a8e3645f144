"""Sources and sinks that Dovetail reads and writes itself, as a declaration asks for them.

WITH (format = 'parquet', path = 'in/temperature', reader = 'dovetail', max_rows = 1000000)
WITH (format = 'kafka', servers = 'localhost:9092', topic = 'temperature', values = 'json', reader = 'dovetail')
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from dovetail.errors import DovetailError
from dovetail.model.files import files
from dovetail.model.kafka import kafka
from dovetail.model.sinks import Delta, OwnSink, Parquet
from dovetail.model.sources import Source
from dovetail.sql.options import Options

T = TypeVar("T")

_WHO = ("spark", "dovetail")


def own_source(options: Options, format: str) -> Source | None:
    """Where a stream is read from; None if Spark reads it."""
    if options.choice("reader", _WHO) == "spark":
        return None
    if format.lower() == "kafka":
        servers, topic, values = options.needed("servers"), options.needed("topic"), options.taken("values") or "json"
        return _checked(options, lambda: kafka(servers, topic, values, **_values(options)))
    path = options.needed("path")
    return _checked(options, lambda: files(path, format.lower(), **_values(options)))


def own_sink(options: Options, format: str) -> OwnSink | None:
    """Where Dovetail writes the results to; None if Spark writes them."""
    place = options.place("writer")
    if options.choice("writer", _WHO) == "spark":
        return None
    delta = format.lower() == "delta"
    if not delta and format.lower() != "parquet":
        reason = f"Dovetail writes Parquet files and Delta tables, not {format!r}; leave writer out"
        raise options.source.error(reason, place)
    path = options.needed("path")
    compression = None if delta else options.taken("compression") or "snappy"
    for name in options.values:
        options.refuse(name, f"Dovetail writes these files, and takes path{'' if delta else ' and compression'}")
    return _checked(options, lambda: Delta(path) if compression is None else Parquet(path, compression))


def _values(options: Options) -> dict[str, Any]:
    """All that is left of the options: numbers and truth values as such, a schema out of its file."""
    given = {name: _value(name, options.taken(name) or "") for name in [*options.values]}
    file = given.pop("value_schema_file", None)
    if file is not None:
        content = Path(file).read_bytes()
        given["value_schema"] = content if "message" in given else content.decode()
    return given


def _value(name: str, text: str) -> Any:
    if name in ("max_rows", "max_files"):
        return int(text) if text.isdigit() else text
    return {"true": True, "false": False}.get(text.lower(), text)


def _checked(options: Options, make: Callable[[], T]) -> T:
    try:
        return make()
    except (DovetailError, OSError) as error:
        raise options.source.error(str(error), options.end) from None
