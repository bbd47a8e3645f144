"""What the paper's hash window takes beside ours: a walk along its bucket for every tuple that leaves.

The tuples of a bucket are a chain, the newest first; the one that leaves is the oldest, at its end. The walk is timed
on this machine over chains as long as the windows make them. Example: 4 tuples of 2 keys, and both oldest ones leave.

    >>> chains(np.array([0, 1, 0, 1]))
    (array([-1, -1,  0,  1]), array([2, 3]))
    >>> int(walk(*chains(np.array([0, 1, 0, 1]))))
    2
"""

from time import process_time

import numpy as np
import numpy.typing as npt

from dovetail.kernel import kernel

_MOST = 2_000_000  # steps that are timed; longer walks are in proportion
_TURNS = 5

Ids = npt.NDArray[np.int64]


@kernel("int64(int64[::1], int64[::1])")
def walk(before: Ids, heads: Ids) -> int:  # pragma: no cover (compiled)
    """From each head to the end of its chain; the steps taken."""
    steps = 0
    for head in heads:
        at = head
        while before[at] >= 0:
            at = before[at]
            steps += 1
    return steps


def chains(keys: Ids) -> tuple[Ids, Ids]:
    """Of each tuple the one before it with the same key, and the newest of each key."""
    order = np.argsort(keys, kind="stable")
    before = np.full(len(keys), -1, np.int64)
    same = keys[order][1:] == keys[order][:-1]
    before[order[1:][same]] = order[:-1][same]
    ends = np.append(~same, True)
    return before, np.sort(order[ends]).astype(np.int64)


def walk_s(rate: float, window_s: float, keys: int, seconds: float = 60.0) -> float:
    """CPU seconds of the walks of so many seconds of stream."""
    tuples = int(rate * window_s)
    before, heads = chains(np.random.default_rng(1).integers(0, keys, tuples))
    leaving, length = rate * seconds, max(tuples / keys, 1.0)
    timed = np.resize(heads, max(1, int(min(leaving, _MOST / length)))).astype(np.int64)
    steps, best = walk(before, timed), np.inf
    for _ in range(_TURNS):
        began = process_time()
        walk(before, timed)
        best = min(best, process_time() - began)
    return float(best / max(steps, 1) * leaving * length)
