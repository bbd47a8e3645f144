"""Which ages of a window results come from, out of what a report says was learned: one histogram per stream.

A histogram counts, over results, how much later a stream's member is than the first stream's (which has none). How old
the member of one stream is when that of another arrives is the difference of two of them, taken as independent.

    >>> learned = {"B": {"low_us": 0, "bin_us": 1_000_000, "counts": [0, 0, 0, 5]}}   # B comes 3 to 4 s after A
    >>> heat(learned, "B", "A", [0, 2_000_000, 4_000_000]), heat(learned, "A", "B", [0, 2_000_000, 4_000_000])
    ([0.0, 1.0], [0.0, 0.0])
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.dashboard.incoming import number

BINS = 1000  # more than a screen has columns of pixels
Floats = npt.NDArray[np.float64]


def heat(learned: Mapping[str, Any], arriving: str, probed: str, edges_us: Sequence[float]) -> list[float] | None:
    """The share of results that lies between each two edges of age; None if nothing was learned."""
    later, earlier = later_than_first(learned, arriving), later_than_first(learned, probed)
    if later is None or earlier is None:
        return None
    ages = np.subtract.outer(later[0], earlier[0]).ravel()
    shares = np.multiply.outer(later[1], earlier[1]).ravel()
    counted, _ = np.histogram(ages, bins=np.asarray(edges_us, np.float64), weights=shares)
    found: list[float] = np.nan_to_num(counted).tolist()
    return found


def later_than_first(learned: Mapping[str, Any], name: str) -> tuple[Floats, Floats] | None:
    """Middles of the bins and their shares; the first stream is never later than itself."""
    if name not in learned:
        return (np.zeros(1), np.ones(1)) if learned else None
    known = learned[name] if isinstance(learned[name], Mapping) else {}
    counts = [max(0.0, number(count) or 0.0) for count in _list(known.get("counts"))[:BINS]]
    low, wide = number(known.get("low_us")), number(known.get("bin_us"))
    if low is None or wide is None or not 0 < sum(counts) < np.inf or abs(low) > 1e18 or abs(wide) > 1e18:
        return None
    shares = np.array(counts) / sum(counts)
    middles = low + wide * (np.arange(len(counts), dtype=np.float64) + 0.5)
    return middles[shares > 0], shares[shares > 0]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
