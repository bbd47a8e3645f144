"""What a join that has too little CPU leaves out: slices of windows that arrivals do not look through, and tuples.

A slice is a range of ages: how much older than the arrival a stored tuple is, in microseconds (negative: newer). An
arrival of A may look through the slices of B at 0 to 2 s and 4 to 6 s:

    >>> pick = Pick((0, 2_000_000, 4_000_000, 6_000_001), (0, 2, 1), 2)
    >>> pick.ranges
    ((0, 2000000), (4000000, 6000001))
    >>> Pick((0, 2_000_000, 4_000_000, 6_000_001), (0, 2, 1), 1, part=0.5).ranges
    ((0, 2000000), (4000000, 5000000))
    >>> Shed.from_json(Shed(0.5, {"A": {"B": pick}}).to_json()).picks["A"]["B"] == pick
    True
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

SLICES = 10  # as in the paper
MOST_SLICES = 100  # what is learned of each must fit into an interval
FAR = 1 << 60  # 36,000 years: sums with a time stay within 64 bits


@dataclass(frozen=True)
class Pick:
    """The slices of one window between ``edges`` (the last one excluded), ranked best first; so many are chosen.

    ``part``: how much of the next one is, on the side of a chosen neighbour.
    """

    edges: tuple[int, ...]
    ranking: tuple[int, ...]
    chosen: int
    part: float = 0.0

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The chosen ages, neighbours together: from, up to but without."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted(self._pieces()):
            if merged and merged[-1][1] == low:
                merged[-1] = merged[-1][0], high
            else:
                merged.append((low, high))
        return tuple(merged)

    def _pieces(self) -> Iterator[tuple[int, int]]:
        whole = self.ranking[: self.chosen]
        yield from ((self.edges[at], self.edges[at + 1]) for at in whole)
        if self.part:
            at = self.ranking[self.chosen]
            low, high = self.edges[at], self.edges[at + 1]
            length = max(1, round(self.part * (high - low)))
            yield (high - length, high) if at + 1 in whole and at - 1 not in whole else (low, low + length)

    @property
    def shares(self) -> tuple[float, ...]:
        """Of each slice, how much is looked through.

        >>> Pick((0, 2, 4, 6), (2, 0, 1), 1, part=0.5).shares
        (0.5, 0.0, 1.0)
        """
        places = {at: place for place, at in enumerate(self.ranking)}
        return tuple(min(1.0, max(0.0, self.looks - places[at])) for at in range(len(self.ranking)))

    @property
    def looks(self) -> float:
        """So many slices are looked through."""
        return self.chosen + self.part


Picks = Mapping[str, Mapping[str, Pick]]  # by arriving and probed stream


@dataclass(frozen=True)
class Shed:
    """How much is left out: by arriving and probed stream, and of each stream at the door.

    ``throttle``: the share of the full work to be done; ``picks`` None: everything is looked through.
    ``ages``: up to which tuples are worth keeping, where memory is short as well.
    """

    throttle: float = 1.0
    picks: Picks | None = None
    kept: Mapping[str, float] = field(default_factory=dict)
    ages: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As plain values, for a header."""
        picks: dict[str, Any] | None = None
        if self.picks is not None:
            picks = {
                arriving: {name: [list(p.edges), list(p.ranking), p.chosen, p.part] for name, p in each.items()}
                for arriving, each in self.picks.items()
            }
        return {"throttle": self.throttle, "picks": picks, "kept": dict(self.kept), "ages": dict(self.ages)}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Shed":
        """Back from plain values."""
        picks = (
            None
            if values["picks"] is None
            else {
                arriving: {name: _pick(*each) for name, each in picks.items()}
                for arriving, picks in values["picks"].items()
            }
        )
        kept = {name: _share(each) for name, each in values["kept"].items()}
        return Shed(_share(values["throttle"]), picks, kept, {name: int(age) for name, age in values["ages"].items()})


def _pick(edges: Sequence[Any], ranking: Sequence[Any], chosen: Any, part: Any) -> Pick:
    """Back from plain values; ValueError if they are no slices between rising edges, each ranked once."""
    found = Pick(tuple(map(int, edges)), tuple(map(int, ranking)), int(chosen), _share(part))
    slices = len(found.edges) - 1
    if sorted(found.ranking) != list(range(slices)) or not 0 <= found.chosen <= slices:
        raise ValueError(f"{slices} slices, of which {found.chosen} of the ranking {found.ranking} are chosen")
    if any(later < edge for edge, later in pairwise(found.edges)) or max(map(abs, found.edges)) > FAR:
        raise ValueError(f"slices between {found.edges}")
    return found


def _share(value: Any) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no share")
    return float(value)


def slice_edges(own_us: int | None, other_us: int, slice_us: int | None, endless: bool = False) -> tuple[int, ...]:
    """The ages between which slices of a window lie, from the newest on; the last is excluded.

    ``own_us`` is the arriving stream's window, which bounds how far ahead of it a partner may be (None: rows do not),
    ``other_us`` that of the stream it looks into; ``endless`` if older tuples may still be inside.

    >>> slice_edges(10, 20, 10)
    (-10, 0, 10, 21)
    """
    length = slice_us or -(-other_us // SLICES)
    length = max(1, length, -(-other_us // MOST_SLICES))
    ages = [*range(0, other_us, length), other_us + 1] if other_us else [0, 1]
    ahead = max(length, -(-own_us // SLICES)) if own_us else 0
    before = [-at for at in range(ahead, own_us, ahead)] + [-own_us] if own_us else []
    front = [-FAR] if own_us is None else sorted(set(before))
    back = [*ages[:-1], FAR] if endless else ages
    return (*front, *back)
