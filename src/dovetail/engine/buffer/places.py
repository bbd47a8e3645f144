"""Where rows go when they are put in order of time.

times 3 9 5      places 0 2 1
"""

import numpy as np
import numpy.typing as npt

from dovetail.engine.combine.kernels import bounds_of, time_order

Places = npt.NDArray[np.int64]

_FAR = 1 << 32


def places_in_order(times: npt.NDArray[np.int64]) -> Places | None:
    """The places of the times in order, ties as they are; None if they are in order already."""
    if len(times) < 2:
        return None
    smallest, largest, in_order = bounds_of(times)
    return None if in_order else places_between(times, smallest, largest)


def places_between(times: npt.NDArray[np.int64], smallest: int, largest: int) -> Places:
    """The same of times that are not in order, none of which lies outside these bounds."""
    if largest - smallest < _FAR and len(times) < _FAR:
        places: Places = time_order(times, smallest, largest)
        return places
    return np.argsort(times, kind="stable")
