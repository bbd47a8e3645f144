"""Where rows go when they are put in order of time.

times 3 9 5      places 0 2 1
"""

import numpy as np
import numpy.typing as npt

from dovetail.engine.combine.kernels import inspect_times, time_order

Places = npt.NDArray[np.int64]


def places_in_order(times: npt.NDArray[np.int64]) -> Places | None:
    """The places of the times in order, ties as they are; None if they are in order already."""
    if len(times) < 2:
        return None
    smallest, largest, behind = inspect_times(times)
    return time_order(times, smallest, largest) if behind else None
