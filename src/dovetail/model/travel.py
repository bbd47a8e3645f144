"""Values of the model as JSON, for queries that travel while something runs; nothing is executed to read them.

    TimeWindow(5)     <->     {"of": "TimeWindow", "length_us": 5}

A function of the user's is code, and stays where it is.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import ModuleType
from typing import Any

import pyarrow as pa

from dovetail.errors import QueryError
from dovetail.model import aggregate, asof, budget, expression, harvest, order, output, predicate, query, stream, window

_MODULES: tuple[ModuleType, ...] = (
    aggregate, asof, budget, expression, harvest, order, output, predicate, query, stream, window,
)  # fmt: skip
_KNOWN: Mapping[str, type] = {
    name: each
    for module in _MODULES
    for name, each in vars(module).items()
    if isinstance(each, type) and is_dataclass(each) and each is not expression.UserFunction
}
_WRITTEN: tuple[tuple[type, str, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (float, "float", repr, float),
    (tuple, "tuple", lambda each: [_written(part) for part in each], lambda each: tuple(map(_read, each))),
    (list, "list", lambda each: [_written(part) for part in each], lambda each: list(map(_read, each))),
    (Mapping, "map", lambda each: [_written(pair) for pair in each.items()], lambda each: dict(map(_read, each))),
    (bytes, "bytes", lambda each: b64encode(each).decode(), b64decode),
    (datetime, "datetime", datetime.isoformat, datetime.fromisoformat),
    (date, "date", date.isoformat, date.fromisoformat),
    (time, "time", time.isoformat, time.fromisoformat),
    (timedelta, "us", lambda each: each // timedelta(microseconds=1), lambda each: timedelta(microseconds=each)),
    (Decimal, "decimal", str, Decimal),
    (pa.Schema, "schema", lambda each: _schema_text(each), lambda each: _schema(each)),
    (pa.DataType, "type", lambda each: _schema_text(pa.schema({"": each})), lambda each: _schema(each).field(0).type),
)


def to_text(value: Any) -> str:
    """The value as JSON; QueryError if it would not be the same again."""
    text = json.dumps(_written(value))
    if repr(from_text(text)) != repr(value):
        raise QueryError(f"this query cannot be sent to a running one, it would change on the way: {value}")
    return text


def from_text(text: str) -> Any:
    """The inverse of ``to_text``."""
    return _read(json.loads(text))


def _written(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if type(value).__name__ in _KNOWN:
        own = {each.name: _written(getattr(value, each.name)) for each in fields(value) if each.init}
        return {"of": type(value).__name__} | own
    for kind, word, write, _ in _WRITTEN:
        if isinstance(value, kind):
            return {"of": word, "value": write(value)}
    if isinstance(value, expression.UserFunction):
        raise QueryError(
            f"function {value.name!r} is code, which cannot be sent to a running query; start again with it"
        )
    raise QueryError(f"a {type(value).__name__} cannot be sent to a running query; start again with it")


def _read(written: Any) -> Any:
    if not isinstance(written, dict):
        return written
    kind, own = written["of"], {name: part for name, part in written.items() if name != "of"}
    if kind in _KNOWN:
        return _KNOWN[kind](**{name: _read(part) for name, part in own.items()})
    return next(read for _, word, _, read in _WRITTEN if word == kind)(own["value"])


def _schema_text(schema: pa.Schema) -> str:
    return b64encode(schema.serialize().to_pybytes()).decode()


def _schema(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(b64decode(text)))
