"""What an operator costs, roughly and quickly: to tell which of very many ways to split a query deserve a closer look.

Streams are bits of a number, so that a set of them is one too. The results of a set S, and how many of them live:

    rate(S) = product of selectivities * sum over i of rate_i * product over j != i of (rate_j * window_j)
    live(S) = rate(S) * half of the largest window

Arrivals of every part look into the others, those with the fewest matches first; each look and each match counts.
"""

from collections.abc import Sequence
from functools import cache
from math import prod

from dovetail.model.expression import streams_of
from dovetail.model.predicate import Equality, Predicate, predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics
from dovetail.plan.cost import TYPICAL
from dovetail.plan.estimate import key_count, of_predicate
from dovetail.plan.join_graph import key_classes

_ARRIVAL, _BLOCK, _LEVEL = TYPICAL["tuple"] + TYPICAL["hash_insert"], TYPICAL["block"], TYPICAL["level"]
_STREAM, _RESULTS = TYPICAL["block_stream"] + TYPICAL["forget"], TYPICAL["result_block"]
_LOOK, _MATCH, _PASSED = TYPICAL["hash_probe"], TYPICAL["match"] + TYPICAL["hash_step"], TYPICAL["scan_tuple"]


class RoughCost:
    """Costs of sets of streams and of ways to cut them into parts, from what is known about the streams."""

    def __init__(self, query: JoinQuery, predicates: Sequence[Predicate], known: Statistics) -> None:
        self.names = query.names
        self._bit = {name: 1 << at for at, name in enumerate(self.names)}
        self._streams = [known.streams[name] for name in self.names]
        self._ties: list[tuple[int, float, bool]] = []  # streams, selectivity, whether any two of them are a tie
        for group in key_classes(predicates):
            streams = frozenset(stream for side in group for stream in streams_of(side))
            self._ties.append((self.mask(streams), 1 / max(1.0, *(key_count(known, side) for side in group)), True))
        for predicate in predicates:
            if not isinstance(predicate, Equality):
                streams = predicate_streams(predicate)
                self._ties.append((self.mask(streams), of_predicate(known, predicate, min(streams)), False))
        self.rate, self.selectivity = cache(self._rate), cache(self._selectivity)

    def mask(self, streams: frozenset[str] | Sequence[str]) -> int:
        return sum(self._bit[name] for name in streams)

    def members(self, mask: int) -> list[str]:
        return [name for name in self.names if mask & self._bit[name]]

    def connected(self, mask: int) -> bool:
        """Whether predicates hold a set of streams together."""
        inside = [streams & mask for streams, _, any_two in self._ties if any_two or streams & mask == streams]
        reached, before = mask & -mask, 0
        while reached != before:
            before = reached
            for streams in inside:
                if streams & reached:
                    reached |= streams
        return reached == mask

    def _selectivity(self, bound: int, more: int) -> float:
        """The share of combinations of two sets that match."""
        found = 1.0
        for streams, share, any_two in self._ties:
            if any_two:
                found *= share if streams & bound and streams & more else 1.0
            elif streams & (bound | more) == streams and streams & bound and streams & more:
                found *= share
        return found

    def _rate(self, mask: int) -> float:
        own = [stream for at, stream in enumerate(self._streams) if mask >> at & 1]
        windows = [stream.rate * stream.span_s for stream in own]
        share, bound = 1.0, 0
        for at in range(len(self._streams)):
            if mask >> at & 1:
                share, bound = share * self.selectivity(bound, 1 << at), bound | 1 << at
        return share * sum(each.rate * prod(windows[:at] + windows[at + 1 :]) for at, each in enumerate(own))

    def _live(self, mask: int) -> float:
        own = [stream for at, stream in enumerate(self._streams) if mask >> at & 1]
        lives_s = max(stream.span_s for stream in own)
        return own[0].tuples if len(own) == 1 else self.rate(mask) * lives_s / 2

    def of(self, parts: Sequence[int]) -> float:
        """Seconds per second of one operator that joins these sets of streams."""
        live = {part: self._live(part) for part in parts}
        return sum(self._arriving(part, parts, live) for part in parts)

    def _arriving(self, part: int, parts: Sequence[int], live: dict[int, float]) -> float:
        own = [stream for at, stream in enumerate(self._streams) if part >> at & 1]
        rate = max(self.rate(part), 1e-9)
        blocks = min(rate, sum(stream.rate / stream.block for stream in own))
        spent, bound, combinations, left = 0.0, part, 1.0, [each for each in parts if each != part]
        while left:
            matches = [self.selectivity(bound, each) * live[each] for each in left]
            tied = [self.selectivity(bound, each) < 1.0 for each in left]
            at = min(range(len(left)), key=lambda place: (not tied[place], matches[place]))
            look = _LOOK if tied[at] else _PASSED * live[left[at]]
            spent += combinations * look + combinations * matches[at] * _MATCH
            spent += _LEVEL * min(blocks / rate, combinations)
            combinations, bound = combinations * matches[at], bound | left.pop(at)
        spent += _RESULTS * min(blocks / rate, combinations)
        return rate * (_ARRIVAL + spent) + blocks * (_BLOCK + _STREAM * len(parts))
