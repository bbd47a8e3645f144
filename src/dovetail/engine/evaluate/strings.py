"""Text: patterns, joining, and SQL's substrings, which count from 1.

    substring('window', 2, 3)    ->   'ind'
    substring('window', -3)      ->   'dow'

Patterns and positions are constants, so that a whole column is done in one call.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.model.expression import Call, Literal


def _constant(call: Call, at: int) -> Any:
    argument = call.arguments[at]
    if not isinstance(argument, Literal):
        raise ValueError(f"{call}: argument {at + 1} must be a constant")
    return argument.value


def like(call: Call) -> Callable[..., Any]:
    """``text LIKE pattern`` with a constant pattern; a backslash makes % and _ stand for themselves."""
    pattern = _constant(call, 1)
    if pattern is None:
        return lambda text, _: pa.scalar(None, pa.bool_())
    return lambda text, _: pc.match_like(text, pattern)


def joined(call: Call) -> Callable[..., Any]:
    """Texts one after the other; NULL if any of them is."""
    nothing = pa.scalar("", call.type)
    return lambda *texts: pc.binary_join_element_wise(*texts, nothing)


def substring(call: Call) -> Callable[..., Any]:
    """``substring(text, start[, length])`` with constant start and length; a negative start counts from the end."""
    start = _constant(call, 1)
    length = _constant(call, 2) if len(call.arguments) > 2 else None
    begin, end = slice_bounds(start, length)
    return lambda text, *_: pc.utf8_slice_codeunits(text, begin, end)


def slice_bounds(start: int, length: int | None) -> tuple[int, int | None]:
    """Where the slice begins and ends, counting from 0 (or from the end if negative)."""
    begin = start - 1 if start >= 0 else start
    end = None if length is None else begin + max(length, 0)
    if start >= 0:
        return max(begin, 0), end if end is None else max(end, 0)
    return begin, None if end is None or end >= 0 else end
