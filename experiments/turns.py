"""Times of several ways to do the same that can be compared, on a machine that does other things meanwhile.

All ways take turns, and of each the quickest turn counts: what else runs then slows all of them, and decides little.

    >>> took = {"hash": lambda turn: (3.0, 1.0)[turn], "scan": lambda turn: (2.0, 4.0)[turn]}
    >>> quickest(took, turns=2)
    {'hash': 1.0, 'scan': 2.0}
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

Way = TypeVar("Way")


def quickest(took: Mapping[Way, Callable[[int], float]], turns: int) -> dict[Way, float]:
    """By way, the least of what it took in each of its turns."""
    all_turns = [{way: seconds(turn) for way, seconds in took.items()} for turn in range(turns)]
    return {way: min(each[way] for each in all_turns) for way in took}
