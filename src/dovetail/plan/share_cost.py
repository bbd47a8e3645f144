"""Whether a query is better off in a group or alone: the work per second of either, by a small model.

    in a group     every tuple of every stream is taken in once; every match within the largest windows is found once,
                   looked at once per query, and made into a row for each query that it belongs to
    alone          tuples pass the query's own conditions first; only those that do are taken in, and only its own
                   matches within its own windows are found

So a query is better alone if it alone needs a very large window but takes few tuples, or if its window is so small that
looking at all the matches of the others costs more than finding its own:

    >>> round(match_rate({"A": 1000.0, "B": 1000.0}, {"A": 10.0, "B": 10.0}))  # matches per second, windows of 10 s
    200

Nothing is known of streams before they run: rates, matches and what conditions let through are the assumptions below. A
running group has measured rates and matches (``Known``), and whoever joins it is judged by these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from dovetail.model.expression import Call, Expression
from dovetail.model.statistics import Statistics
from dovetail.model.window import RowWindow, Window, length_s
from dovetail.plan.assume import ASSUMED_ROWS
from dovetail.plan.share_queries import Member

RATE = 1000.0  # tuples per second of each stream
MATCH = 1e-5  # of all pairs
# customary guesses for conditions on one stream
PASSES = {"eq": 0.01, "in": 0.05, "like": 0.1, "lt": 1 / 3, "le": 1 / 3, "gt": 1 / 3, "ge": 1 / 3}
OTHERWISE = 0.5  # nothing is known: one in two
ENOUGH_S = 1.0  # of event time, before measured rates count

# Nanoseconds.
CONDITION, TAKE_IN, FIND, LOOK, ROW = 10.0, 150.0, 20.0, 2.0, 100.0
READ_ON_SPARK = 1200.0  # to bring one tuple to an operator; embedded, all operators get the same push


@dataclass(frozen=True)
class Known:
    """Tuples per second of each stream, as far as they were measured, and the share of all pairs that match."""

    rates: Mapping[str, float] = field(default_factory=dict)
    match: float = MATCH

    def rate(self, name: str) -> float:
        return self.rates.get(name, RATE)


ASSUMED = Known()


def measured(known: Statistics) -> Known | None:
    """What a running group has seen of its streams; None as long as it has seen too little."""
    rates = {name: stream.rate for name, stream in known.streams.items()}
    windows = {name: stream.tuples / stream.rate if stream.rate else 0.0 for name, stream in known.streams.items()}
    pairs = match_rate(rates, windows, match=1.0)
    if known.output_rate is None or not pairs or (known.seen_s or 0.0) < ENOUGH_S:
        return None
    return Known(rates, float((known.output_rate / pairs) ** (1 / (len(rates) - 1))))


@dataclass(frozen=True)
class Verdict:
    """Why a query runs alone: microseconds of work per second alone, and what it would add to its group."""

    alone_us: float
    shared_us: float

    def __str__(self) -> str:
        return f"predicted {self.alone_us:,.0f} us of work per second, and {self.shared_us:,.0f} more in the group"


def alone_cost(member: Member, reading: float = 0.0, known: Known = ASSUMED) -> float:
    """Nanoseconds per second of a query by itself, its conditions below the join; ``reading``: per tuple, once more."""
    rates = _own_rates(member, known)
    asked = sum(CONDITION * known.rate(name) for name, _ in member.query.filters)
    asked += reading * sum(map(known.rate, rates))
    return asked + TAKE_IN * sum(rates.values()) + (FIND + ROW) * match_rate(rates, _seconds(member), known.match)


def group_cost(members: Sequence[Member], known: Known = ASSUMED) -> float:
    """Nanoseconds per second of an operator that all of them share."""
    if not members:
        return 0.0
    rates, windows = _union(members, known)
    found = match_rate(rates, windows, known.match)
    rows = sum(ROW * match_rate(_own_rates(each, known), _seconds(each), known.match) for each in members)
    return TAKE_IN * sum(rates.values()) + found * (FIND + LOOK * len(members)) + rows


def verdict(member: Member, others: Sequence[Member], reading: float = 0.0, known: Known = ASSUMED) -> Verdict | None:
    """Why a query had better run alone beside others that share; None if it had not."""
    alone, added = alone_cost(member, reading, known), group_cost([*others, member], known) - group_cost(others, known)
    return Verdict(alone / 1000, added / 1000) if others and alone < added else None


def better_alone(members: Sequence[Member], reading: float = 0.0) -> dict[str, Verdict]:
    """The queries of a group that had better leave it: asked first are large windows, and of those, of few tuples."""
    staying = sorted(members, key=lambda each: (-sum(_seconds(each).values()), sum(_own_rates(each, ASSUMED).values())))
    leaving: dict[str, Verdict] = {}
    while len(staying) > 1:
        found = verdict(staying[0], staying[1:], reading)
        if found is None:
            break
        leaving[staying.pop(0).name] = found
    looking = LOOK * match_rate(*_union(staying, ASSUMED))
    for member in staying[1:]:
        if (alone := alone_cost(member, reading)) < looking:
            leaving[member.name] = Verdict(alone / 1000, looking / 1000)
    return leaving


def _union(members: Sequence[Member], known: Known) -> tuple[dict[str, float], dict[str, float]]:
    """Per stream: the tuples per second that the conditions of all let in, and the largest window."""
    names, first = members[0].query.names, members[0].query.filters
    common = [part for part in first if all(part in each.query.filters for each in members)]
    rates = {name: known.rate(name) * part for name, part in _passing(common, names).items()}
    return rates, {name: max(_seconds(each)[name] for each in members) for name in names}


def match_rate(rates: Mapping[str, float], windows: Mapping[str, float], match: float = MATCH) -> float:
    """Results per second: the last to come meets all others within their windows."""
    names = list(rates)
    meeting = sum(prod(windows[other] for other in names if other != name) for name in names)
    return float(match ** (len(names) - 1) * prod(rates.values()) * meeting)


def _own_rates(member: Member, known: Known) -> dict[str, float]:
    passing = _passing(member.query.filters, member.query.names)
    return {name: known.rate(name) * part for name, part in passing.items()}


def _passing(conditions: Sequence[tuple[str, Expression]], names: Sequence[str]) -> dict[str, float]:
    """Of each stream, the part that satisfies the conditions."""
    return {name: prod(_part(condition) for stream, condition in conditions if stream == name) for name in names}


def _part(condition: Expression) -> float:
    return PASSES.get(condition.function, OTHERWISE) if isinstance(condition, Call) else OTHERWISE


def _seconds(member: Member) -> dict[str, float]:
    return {stream.name: _length(stream.window) for stream in member.query.streams}


def _length(window: Window | None) -> float:
    """Seconds; rows, and all of a stream without a window, as the time they take to come."""
    if isinstance(window, RowWindow):
        return window.count / RATE
    length = length_s(window)
    return ASSUMED_ROWS / RATE if length is None else length
