"""Reading headers back: anybody may have written them, so values are checked before anything relies on them."""

from math import inf, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.errors import StateError

_LARGEST = (1 << 62) + 1  # no count, and no time that an engine waits for, lies beyond it
# estimates, and readings of clocks, which are made whole where they are read
_ANY_NUMBER = ("shedding", "watermarks", "accounts")
_FRACTIONS = ("memory", "decision")  # estimates beside counts
_ANY_SHAPE = ("group", "decision")  # depends on who wrote it; checked where it is read


def check_header(section: str, found: Any, own: dict[str, Any]) -> None:
    """StateError where the values of a section's header are not of the kind that it would write itself."""
    if section not in _ANY_SHAPE:
        check_kinds(found, own, section)
    if section not in _ANY_NUMBER:
        _check_numbers(found, section, section in _FRACTIONS)


def finite(value: Any, least: float = -inf, most: float = inf) -> float:
    """A number out of a header; StateError if it is none, or not within what it can be."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not isfinite(value)
        or not least <= value <= most
    ):
        raise StateError(f"{value!r} stands in this state where a number must be. Use an earlier one.")
    return value


def finite_all(values: Any, count: int, least: float = -inf) -> tuple[float, ...]:
    """So many of them."""
    if len(values) != count:
        raise StateError(f"{values!r} stands in this state where {count} numbers must be. Use an earlier one.")
    return tuple(finite(value, least) for value in values)


def numbers(values: Any) -> npt.NDArray[np.float64]:
    """A list of them."""
    found = np.array(values, np.float64)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise StateError(f"{values!r} stands in this state where a list of numbers must be. Use an earlier one.")
    return found


def _check_numbers(value: Any, place: str, fractions: bool) -> None:
    """Counts and times are whole numbers within reason; estimates are of any size."""
    if isinstance(value, dict):
        for name, part in value.items():
            _check_numbers(part, f"{place}/{name}", fractions)
    elif isinstance(value, list):
        for at, part in enumerate(value):
            _check_numbers(part, f"{place}/{at}", fractions)
    elif not fractions if isinstance(value, float) else isinstance(value, int) and abs(value) > _LARGEST:
        raise StateError(f"{place} is {value} in this state; no engine writes such a number. Use an earlier one.")


def check_kinds(found: Any, own: Any, place: str) -> None:
    """What is there is as in a header of one's own: mappings, lists, texts, finite numbers under the same names.

    A value that is not known yet in the own one may be anything but a text. What is in a list, and under names that
    the own one has not, differs from one engine to the next: whoever reads it checks it.
    """
    if not _alike(found, own):
        raise StateError(
            f"{place} is {found!r} in this state, where {own!r} would be in a new one. Use an earlier one."
        )
    if isinstance(own, dict):
        for name in own.keys() & found.keys():
            check_kinds(found[name], own[name], f"{place}/{name}")


def _alike(found: Any, own: Any) -> bool:
    if own is None:
        return not isinstance(found, str | bool)
    if isinstance(own, bool | str | dict):
        return type(found) is type(own)
    if isinstance(own, list | tuple):
        return isinstance(found, list | tuple)
    return isinstance(found, int | float) and not isinstance(found, bool) and isfinite(found)
