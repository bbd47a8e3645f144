"""Numbers that a user gives: Python's and NumPy's own, never a truth value, never NaN."""

import math
from numbers import Integral, Real
from typing import Any

from dovetail.errors import QueryError

MOST = 1 << 60  # rows or tuples: far beyond any memory, and sums of two still fit into 64 bits


def as_number(value: Any) -> float | None:
    """A finite number as a float; None if it is anything else.

    >>> as_number(1), as_number(0.5), as_number(True), as_number(float("nan")), as_number("1")
    (1.0, 0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_count(value: Any) -> int | None:
    """A whole number of rows, 1 or more; None if it is anything else.

    >>> as_count(3), as_count(0), as_count(1.0), as_count(10**30)
    (3, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= MOST:
        return None
    return int(value)


def as_share(option: str, value: Any) -> float:
    """A share of a whole; QueryError names the option, as in ``budget(cpu``."""
    share = as_number(value)
    if share is None or not 0 < share <= 1:
        raise QueryError(f"{option}={value!r}): it is a number above 0, up to 1")
    return share
