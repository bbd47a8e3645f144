"""Where rows go when they are put in order of time.

times 3 9 5      places 0 2 1
"""

import numpy as np
import numpy.typing as npt

from dovetail.engine.kernels import bounds_of, time_order

Places = npt.NDArray[np.int64]
Times = npt.NDArray[np.int64]

_FAR, _MANY = 1 << 32, 1 << 31  # a time and a place fit into one 64-bit number and are sorted together


def places_in_order(times: Times) -> Places | None:
    """The places of the times in order, ties as they are; None if they are in order already."""
    if len(times) < 2:
        return None
    smallest, largest, in_order = bounds_of(times)
    return None if in_order else places_between(times, smallest, largest)[0]


def places_between(times: Times, smallest: int, largest: int) -> tuple[Places, Times]:
    """The same of times none of which lies outside these bounds, in order or not; and the times in order."""
    if largest - smallest < _FAR and len(times) < _MANY:
        found: tuple[Places, Times] = time_order(times, smallest, largest)
        return found
    places = np.argsort(times, kind="stable")
    return places, times.take(places)
