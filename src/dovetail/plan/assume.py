"""What a plan is reckoned with before any data has come: what the user says, and where he says nothing, an assumption.

    explain(rates={"A": 10_000}, keys={"A.k": 500})      A's rate and one key are given, the rest is assumed and named

Rates are tuples per second, keys are distinct values: a number for all, or one per stream or per key.
"""

from collections.abc import Mapping
from typing import Any

from dovetail.errors import PlanError, nearest
from dovetail.model.expression import streams_of
from dovetail.model.number import as_number
from dovetail.model.predicate import Equality
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.model.stream import Stream
from dovetail.model.window import RowWindow, TimeWindow, length_s
from dovetail.plan.estimate import ASSUMED_KEYS
from dovetail.plan.physical import LARGEST_BLOCK

ASSUMED_RATE = 1000.0  # of a busy sensor network; said in explain(), replaced by what is measured
ASSUMED_BLOCK_S = 0.1  # what a person notices; said in explain(), replaced by what is measured
ASSUMED_ROWS = 1e6  # of a stream without a window

Given = float | Mapping[str, float] | None


def assume(query: JoinQuery, rates: Given = None, keys: Given = None) -> Statistics:
    """Statistics from what is given; ``assumed`` lists the rest."""
    rate_of, key_of = _named("rates", rates, query.names), _named("keys", keys, _key_names(query))
    notes = [f"{name} brings {ASSUMED_RATE:,.0f} tuples per second" for name in query.names if name not in rate_of]
    found = {}
    for key, name in _keys(query).items():
        found[key] = key_of.get(key, key_of.get(name, 0.0)) or ASSUMED_KEYS
        if key not in key_of and name not in key_of:
            notes.append(f"{key} has {ASSUMED_KEYS:,.0f} distinct values")
    streams = {}
    for stream in query.streams:
        own = max((count for key, count in found.items() if _keys(query)[key] == stream.name), default=1.0)
        streams[stream.name] = _stream(stream, rate_of.get(stream.name, ASSUMED_RATE), own)
        if length_s(stream.window) is None and not isinstance(stream.window, RowWindow) and stream.data is None:
            notes.append(f"{stream.name} has {ASSUMED_ROWS:,.0f} rows in all")
    notes.append(f"tuples come in blocks of {ASSUMED_BLOCK_S:g} seconds")
    others = [str(predicate) for predicate in query.predicates if not isinstance(predicate, Equality)]
    notes += [f"how often {text} holds" for text in others]
    return Statistics(streams, found, assumed=tuple(notes))


def _stream(stream: Stream, rate: float, keys: float) -> StreamStatistics:
    block = min(max(rate * ASSUMED_BLOCK_S, 1.0), LARGEST_BLOCK)
    return StreamStatistics(rate, tuples_held(stream, rate, keys), block, window_s=length_s(stream.window))


def tuples_held(stream: Stream, rate: float, keys: float) -> float:
    """How many tuples a window holds at a rate, if its key has so many values."""
    window = stream.window
    if isinstance(window, TimeWindow):
        rows = float(getattr(stream.data, "num_rows", ASSUMED_ROWS))
        return rows if window.unbounded else rate * window.length_us / 1e6
    assert isinstance(window, RowWindow)
    return window.count * (keys if window.per == "key" else 1.0)


def _keys(query: JoinQuery) -> dict[str, str]:
    """The text of every key, and its stream."""
    sides = [side for p in query.predicates if isinstance(p, Equality) for side in (p.left, p.right)]
    return {str(side): next(iter(streams_of(side))) for side in sides}


def _key_names(query: JoinQuery) -> list[str]:
    return [*query.names, *_keys(query)]


def _named(option: str, given: Any, names: list[str] | tuple[str, ...]) -> dict[str, float]:
    """A number per name; PlanError if it is something else."""
    if given is None:
        return {}
    chosen = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
    for name, number in chosen.items():
        if name not in names:
            raise PlanError(f"{option}: the query has no {name!r}; {nearest(name, names)}")
        value = as_number(number)
        if value is None or value < 0:
            raise PlanError(f"{option}: {name!r} is {number!r}; give a number, 0 or more")
    return {name: float(number) for name, number in chosen.items()}
