"""How often a tuple of one window has the same key as a tuple of another, from a sample of both.

Counting distinct keys does not say: with a thousand keys of which one is half of all tuples, a probe meets a quarter
of the window and not a thousandth.

    >>> codes = np.repeat(np.arange(4), [6, 2, 0, 0])
    >>> round(alike(codes, codes), 3)
    0.625
"""

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
_SIZE = 2048  # of each window: four million pairs, so that one in ten thousand is still seen some hundred times


def sample(codes: Codes) -> Codes:
    """Some of the codes: at random, and the same ones for windows of the same size."""
    if len(codes) <= _SIZE:
        return codes
    return codes[np.random.default_rng(len(codes)).integers(0, len(codes), _SIZE)]


def alike(one: Codes, other: Codes) -> float:
    """The share of pairs that are equal."""
    other = np.sort(other)
    equal = np.searchsorted(other, one, "right") - np.searchsorted(other, one, "left")
    return float(equal.sum()) / max(1, len(one) * len(other))
