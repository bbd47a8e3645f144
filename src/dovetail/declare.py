"""Checks of what a user declares, with messages that say where, what was needed, what came, what to try."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from inspect import Parameter, signature
from typing import Any

import pyarrow as pa

from dovetail.errors import QueryError, StreamError, nearest
from dovetail.model.budget import Budget
from dovetail.model.duration import duration_us
from dovetail.model.order import Adaptive
from dovetail.model.predicate import Predicate
from dovetail.model.stream import Stream
from dovetail.model.window import Window, as_window
from dovetail.plan.choose_algorithm import ALGORITHMS
from dovetail.plan.join_graph import connected_components
from dovetail.plan.split_query import Tree, leaves
from dovetail.runtime.rows import arrow_of


def as_data(data: Any) -> Any:
    """Spark DataFrames as they are; what exports Arrow becomes Arrow now, so that a reader is read once only."""
    if data is None or type(data).__module__.startswith("pyspark."):
        return data
    table = arrow_of(data)
    return data if table is None else table


def as_schema(name: str, data: Any, schema: pa.Schema | None) -> pa.Schema:
    """The Arrow schema of a stream, from its data or as given."""
    if data is None:
        if not isinstance(schema, pa.Schema):
            raise StreamError(f"stream {name!r} has neither data nor a schema; give one of them")
        found = schema
    elif schema is not None:
        raise StreamError(f"stream {name!r} has both data and a schema; data has a schema of its own")
    elif type(data).__module__.startswith("pyspark."):
        from dovetail.runtime.spark.types import arrow_schema

        found = arrow_schema(data.schema)
    elif isinstance(data, pa.Table | pa.RecordBatch):
        found = data.schema
    else:
        raise StreamError(
            f"stream {name!r}: data is a {type(data).__name__}; give a Spark DataFrame, an Arrow table, "
            "a pandas or Polars frame, a DuckDB relation, or nothing and a schema"
        )
    plain = [pa.field(field.name, _plain(field.type)) for field in found if not field.name.startswith("__index_level_")]
    twice = next((field.name for field in plain if found.names.count(field.name) > 1), None)
    if twice is not None:
        raise StreamError(f"stream {name!r} has more than one column {twice!r}; rename one")
    return pa.schema(plain)


def _plain(type_: pa.DataType) -> pa.DataType:
    """The type of the values, without an encoding that only saves space on the way."""
    if pa.types.is_dictionary(type_):
        return type_.value_type
    if pa.types.is_run_end_encoded(type_):
        return type_.value_type
    if type_ == pa.string_view():
        return pa.string()
    return pa.binary() if type_ == pa.binary_view() else type_


def as_duration(option: str, value: str | timedelta) -> int:
    """Microseconds of an option that is a duration."""
    try:
        return duration_us(value)
    except ValueError as error:
        raise StreamError(f"{option} {error}") from error


def check_time_column(name: str, schema: pa.Schema, time: str) -> None:
    """The event-time column exists and is a timestamp."""
    if time not in schema.names:
        known = nearest(time, schema.names)
        raise StreamError(f"stream {name!r} has no column {time!r} to take its time from; {known}")
    found = schema.field(time).type
    if not pa.types.is_timestamp(found):
        raise StreamError(
            f"stream {name!r}: time column {time!r} has type {found}, and needs a timestamp. "
            "A number has no unit: cast it, for example with pyarrow.compute.cast(column, pyarrow.timestamp('ms'))."
        )


def with_windows(streams: Sequence[Stream], window: str | timedelta | Window | None) -> tuple[Stream, ...]:
    """The streams, each with a window of its own or that of the query."""
    other = next((stream for stream in streams if not isinstance(stream, Stream)), None)
    if other is not None:
        raise QueryError(f"join: {other!r} is not a stream; make one with dovetail.stream(...)")
    names = [stream.name for stream in streams]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise QueryError(f"two streams are named {twice!r}; give each its own name")
    common = None if window is None else as_window(window)
    without = [stream.name for stream in streams if stream.window is None and common is None]
    if without:
        raise QueryError(f"stream {without[0]!r} has no window; give it one, or give the join one for all")
    _check_zones(streams)
    return tuple(replace(stream, window=stream.window or common) for stream in streams)


def _check_zones(streams: Sequence[Stream]) -> None:
    zoned = [stream for stream in streams if stream.time_type.tz is not None]
    if zoned and len(zoned) < len(streams):
        plain = next(stream for stream in streams if stream.time_type.tz is None)
        raise QueryError(
            f"stream {zoned[0].name!r} has times with a zone ({zoned[0].time_type}) and stream {plain.name!r} "
            f"without one ({plain.time_type}); convert one of them"
        )


def check_tied(on: str, names: Sequence[str], predicates: Sequence[Predicate]) -> None:
    """Every stream is tied to the others, unless the user asked for every combination with TRUE."""
    groups = connected_components(names, predicates)
    if len(groups) > 1 and on.strip().upper() != "TRUE":
        first, second = sorted(groups[0], key=names.index), sorted(groups[1], key=names.index)
        raise QueryError(
            f"no predicate ties {', '.join(map(repr, first))} to {', '.join(map(repr, second))} in {on!r}. "
            "Add one, or write on='TRUE' to join every combination within the windows."
        )


def check_options(options: Mapping[str, Any], builder: Callable[..., Any]) -> None:
    """Options of a query from text: the keyword arguments of what builds it, apart from what the text states."""
    known = [name for name, each in signature(builder).parameters.items() if each.kind is Parameter.KEYWORD_ONLY]
    for name in options:
        if name in ("on", "select", "how"):
            raise QueryError(f"{name}= is stated in the text of the query; leave it out of the options")
        if name not in known:
            raise QueryError(f"a query has no option {name!r}; {nearest(name, ['window', *known])}")


def check_choice(option: str, value: str, choices: Sequence[str]) -> Any:
    """One of the words an option takes."""
    if value not in choices:
        raise QueryError(f"{option}={value!r}: it is one of {', '.join(map(repr, choices))}")
    return value


def check_how(how: str, streams: Sequence[Stream]) -> Any:
    """Outer, semi and anti joins are for two streams."""
    check_choice("how", how, ("inner", "left", "right", "full", "semi", "anti"))
    if how != "inner" and len(streams) != 2:
        raise QueryError(
            f"how={how!r} is for two streams, and this query has {len(streams)}; only inner joins take more"
        )
    return how


def check_partitions(partitions: Any) -> int | None:
    """None lets the session decide."""
    if partitions is None or (isinstance(partitions, int) and not isinstance(partitions, bool) and partitions > 0):
        return partitions
    raise QueryError(f"partitions={partitions!r}: it is a whole number, 1 or more, or None to let the session decide")


def check_budget(budget: Any, how: str, aggregates: bool, plan: Any) -> Budget | None:
    """Results may only be missing where a missing one makes no other row wrong."""
    if budget is None:
        return None
    if not isinstance(budget, Budget):
        raise QueryError(f"budget={budget!r}: make one with dovetail.budget(cpu=..., memory=...)")
    kind = "aggregates" if aggregates else f"how={how!r}"
    if budget.sheds and (how != "inner" or aggregates):
        raise QueryError(
            f"budget: policy {budget.policy!r} leaves results out, and with {kind} a missing one would make another "
            "row wrong; it is for inner joins without aggregates. Take policy='spill' or 'fail'."
        )
    if budget.sheds and plan not in ("auto", "multiway"):
        raise QueryError(f"budget: policy {budget.policy!r} is for one operator; leave out plan={plan!r}")
    if budget.cpu is not None and not budget.sheds:
        raise QueryError(f"budget(cpu=..., policy={budget.policy!r}): too little CPU takes 'harvest' or 'drop'")
    if budget.memory is not None and budget.cpu is None and budget.policy == "drop":
        raise QueryError("budget(memory=..., policy='drop'): too little memory takes 'harvest', 'spill' or 'fail'")
    return budget


def check_on_error(on_error: str, budget: Any) -> Any:
    """Going on after a failure takes a second copy of the state, for which a memory budget has no room."""
    check_choice("on_error", on_error, ("raise", "divert"))
    if on_error == "divert" and isinstance(budget, Budget) and budget.memory is not None:
        raise QueryError(
            "on_error='divert' keeps a second copy of the state to go back to, and budget(memory=...) has no room for "
            "it; leave out one of them"
        )
    return on_error


def as_order(order: Any) -> str | Adaptive:
    """A word, or an ``adaptive`` with its setting."""
    if isinstance(order, Adaptive):
        return order
    check_choice("order", order, ("none", "sync", "hold", "adaptive"))
    return Adaptive() if order == "adaptive" else str(order)


def as_plan(plan: Any, names: Sequence[str]) -> Any:
    """A word, or a nesting of all streams' names."""
    if isinstance(plan, str):
        return check_choice("plan", plan, ("auto", "multiway", "binary"))
    tree = _as_tree(plan)
    found = leaves(tree)
    unknown = next((name for name in found if name not in names), None)
    if unknown is not None:
        raise QueryError(f"plan={plan!r}: the query has no stream {unknown!r}; {nearest(unknown, names)}")
    if sorted(found) != sorted(names):
        raise QueryError(f"plan={plan!r}: name each of {', '.join(names)} exactly once")
    return tree


def _as_tree(plan: Any) -> Tree:
    if isinstance(plan, str):
        return plan
    if not isinstance(plan, tuple | list) or len(plan) < 2:
        raise QueryError(
            f"plan: {plan!r} is not a plan; give 'auto', 'multiway', 'binary', or a nesting of two parts or more, "
            "like (('A', 'B'), 'C')"
        )
    return tuple(_as_tree(part) for part in plan)


def as_algorithms(algorithm: Any, names: Sequence[str]) -> Any:
    """'auto', one word for all streams, or one per stream."""
    if algorithm == "auto":
        return "auto"
    if isinstance(algorithm, str):
        check_choice("algorithm", algorithm, (*ALGORITHMS, "auto"))
    chosen = dict.fromkeys(names, algorithm) if isinstance(algorithm, str) else algorithm
    if not isinstance(chosen, Mapping):
        raise QueryError(f"algorithm={algorithm!r}: give 'auto', one of {', '.join(ALGORITHMS)}, or one per stream")
    for name, word in chosen.items():
        if name not in names:
            raise QueryError(f"algorithm: the query has no stream {name!r}; {nearest(name, names)}")
        check_choice(f"algorithm of {name!r}", word, (*ALGORITHMS, "auto"))
    return {name: word for name, word in chosen.items() if word != "auto"}
