"""A sample of a window's older tuples: all of them with the same chance, also those that were sampled before.

Of tuples that stand for 1, 1, 4 and 4 others, two are wanted: each then stands for five.

    >>> share, kept = sample_older(np.array([WHOLE, WHOLE, WHOLE // 4, WHOLE // 4]), 2, np.random.default_rng(0))
    >>> WHOLE // share, len(kept)
    (5, 2)
"""

import numpy as np
import numpy.typing as npt

from dovetail.engine.policies.shed.weights import WHOLE

Slots = npt.NDArray[np.int64]


def sample_older(shares: Slots, count: int, random: np.random.Generator) -> tuple[int, Slots]:
    """The share that is then kept of all tuples, and which of these stay, about ``count`` of them and no more.

    Every place is drawn with its own chance from one random beginning (systematic sampling), so that the number is
    as wanted.
    """
    share = max(1, int(min(WHOLE, WHOLE * count / float((WHOLE / shares).sum()))))
    chances = np.minimum(1.0, share / shares)
    steps = np.floor(np.cumsum(chances) + random.random())
    return share, np.flatnonzero(np.diff(steps, prepend=0.0) > 0)[-count:]
