"""The definition of an as-of join, as a slow and obvious program.

Each row of the answered stream stands beside the one best row of every as-of stream:

    backward   the largest time not after its own         forward   the smallest time not before its own
    nearest    the smallest distance, then the smaller time

Of rows of the same time the one with the largest values is the best: columns that the query uses, in the order of the
stream, NULL below NaN below numbers, lists and structures element by element. So the answer depends neither on the
order of arrival nor on that of arguments. The result time is the time up to which the streams must be known for the
answer to be certain.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

from dovetail.model.asof import AsOf
from dovetail.model.orderable import orderable
from dovetail.model.predicate import predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.table import is_key
from dovetail.testing.history import History, Tuple
from dovetail.testing.interpret import holds, inside, interpret
from dovetail.testing.result import Result


def asof_results(query: JoinQuery, history: History) -> Iterator[Result]:
    """Every result; it is certain once each as-of stream has passed the time up to which it must be known."""
    assert query.answered is not None
    end = _end_us(history)
    for row in history.tuples[query.answered]:
        members, times, passed = {query.answered: row}, list[int](), dict[str, int | None]()
        for stream in query.streams:
            if stream.asof is not None:
                best = _best(query, stream.name, stream.asof, row, history.tuples[stream.name])
                times.append(_certain_us(stream.asof, row, best, end))
                passed[stream.name] = _passed_us(stream.asof, row, best)
                if best is not None:
                    members[stream.name] = best
                elif stream.asof.how == "inner":
                    break
        else:
            known = {name: us for name, us in passed.items() if us is not None}
            yield Result(max([row.time_us, *times]), members, (known,) if len(known) == len(passed) else ())


def _end_us(history: History) -> int:
    """The end is not before anything that came in, nor before what every stream has promised."""
    promised = [mark for mark in history.watermarks.values() if mark is not None]
    frontier = promised if len(promised) == len(history.watermarks) else []
    times = [row.time_us for rows in history.tuples.values() for row in rows]
    return max([*times, min(frontier)] if frontier else times, default=0)


def _best(query: JoinQuery, name: str, asof: AsOf, row: Tuple, rows: list[Tuple]) -> Tuple | None:
    if query.stream(name).table is not None:
        valid = max((each for each in rows if _is_version(query, row, each)), key=_version_rank(query), default=None)
        return valid if valid is not None and _fits(asof, row, valid) and _matches(query, row, valid) else None
    fitting = [other for other in rows if _fits(asof, row, other) and _matches(query, row, other)]
    sign = -1 if asof.direction == "forward" else 1

    def rank(other: Tuple) -> tuple[Any, ...]:
        away = abs(row.time_us + asof.offset_us - other.time_us)
        near = -away if asof.direction == "nearest" else sign * other.time_us
        return near, -other.time_us, _values(query, name, other), other.order

    return max(fitting, key=rank, default=None)


def _fits(asof: AsOf, row: Tuple, other: Tuple) -> bool:
    """Whether the other row lies on the right side, and not too far away."""
    gap = row.time_us + asof.offset_us - other.time_us
    side = {"backward": gap >= 0, "forward": gap <= 0, "nearest": True}[asof.direction]
    return side and (asof.equal or gap != 0) and (asof.tolerance_us is None or abs(gap) <= asof.tolerance_us)


def _is_version(query: JoinQuery, row: Tuple, other: Tuple) -> bool:
    """Whether a row of a table has the key that is asked for, and is not after the row that asks."""
    table, values = query.stream(other.stream).table, {row.stream: row.values, other.stream: other.values}
    keys = [each for each in query.predicates if is_key(each, other.stream, table)]
    return other.time_us <= row.time_us and all(holds(each, values) for each in keys)


def _version_rank(query: JoinQuery) -> Callable[[Tuple], tuple[Any, ...]]:
    return lambda other: (other.time_us, _values(query, other.stream, other), other.order)


def _matches(query: JoinQuery, row: Tuple, other: Tuple) -> bool:
    values = {row.stream: row.values, other.stream: other.values}
    own = [condition for name, condition in query.filters if name in values]
    between = [predicate for predicate in query.predicates if other.stream in predicate_streams(predicate)]
    return all(interpret(each, values) is True for each in own) and all(holds(each, values) for each in between)


def _values(query: JoinQuery, name: str, row: Tuple) -> tuple[Any, ...]:
    used = query.columns_used(name)
    return tuple(
        _ranked(inside(row.values, field.name))
        for field in query.stream(name).schema
        if field.name in used and orderable(field.type)
    )


def _ranked(value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    if isinstance(value, dict | list | tuple):
        return (2, tuple(_ranked(each) for each in (value.values() if isinstance(value, dict) else value)))
    return (1,) if isinstance(value, float) and math.isnan(value) else (2, value)


def _certain_us(asof: AsOf, row: Tuple, best: Tuple | None, end: int) -> int:
    """Up to which time the stream must be known."""
    moment = row.time_us + asof.offset_us
    if asof.direction == "backward":
        return moment
    if best is not None:
        return moment + abs(best.time_us - moment)
    return end if asof.tolerance_us is None else moment + asof.tolerance_us


def _passed_us(asof: AsOf, row: Tuple, best: Tuple | None) -> int | None:
    """The last time at which a row of the stream could be a better answer; None: there is no last one.

    A row of the answer's own time may be better. Of two at the same distance the earlier is the nearest.
    """
    moment = row.time_us + asof.offset_us
    if asof.direction == "backward":
        return moment - asof.gap_us
    if best is None:
        return None if asof.tolerance_us is None else moment + asof.tolerance_us
    return best.time_us if best.time_us >= moment else 2 * moment - best.time_us - 1
