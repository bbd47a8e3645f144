"""Which row groups can have partners: of inner joins over windows of time, the others need not be read.

A   09:00 .. 10:00   10:00 .. 11:00   11:00 .. 12:00       window of A: 5 minutes, of B: none
B                                     11:02 .. 11:20       only A's last row group can have partners
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Span = tuple[int, int]
Spans = Sequence[Span]


class Near:
    """Which rows of one stream lie near enough to some rows of every other stream."""

    def __init__(self, own_us: int, others: Sequence[tuple[Spans, int]]) -> None:
        self._own_us = own_us
        self._others: list[tuple[npt.NDArray[np.int64], int]] = [
            (np.array(spans, np.int64).reshape(-1, 2), window_us) for spans, window_us in others
        ]

    def meets(self, first: int, last: int) -> bool:
        """Whether rows between these times may have partners in all other streams."""
        return all(
            bool(((spans[:, 0] <= last + self._own_us) & (spans[:, 1] >= first - window_us)).any())
            for spans, window_us in self._others
        )


def near(windows: Mapping[str, int], spans: Mapping[str, Spans]) -> dict[str, Near]:
    """For each stream what its rows must meet, as far as it is known between which times rows of others lie."""
    return {
        name: Near(own_us, [(spans[other], windows[other]) for other in windows if other != name and other in spans])
        for name, own_us in windows.items()
    }


def merged(spans: Spans, most: int) -> list[Span]:
    """Spans in order that overlap no more; the nearest become one until at most so many are left.

    >>> merged([(5, 9), (0, 2), (1, 3), (20, 30)], most=2)
    [(0, 9), (20, 30)]
    """
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    if len(found) <= most:
        return found
    gaps = sorted(range(1, len(found)), key=lambda at: found[at - 1][1] - found[at][0])
    begins = sorted([0, *gaps[: most - 1]])
    ends = [*(at - 1 for at in begins[1:]), len(found) - 1]
    return [(found[begin][0], found[end][1]) for begin, end in zip(begins, ends, strict=True)]
