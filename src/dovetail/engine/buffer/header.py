"""Reading a header back: anybody may have written it, so its values are checked before anything relies on them."""

from math import isfinite
from typing import Any

from dovetail.errors import StateError

_LARGEST = (1 << 62) + 1  # no count, and no time that an engine waits for, lies beyond it
_ANY_NUMBER = ("shedding", "watermarks", "memory")  # sections with estimates and clocks, which may be any number
_OWN_CHECKS = ("group", "decision")  # their shape depends on who wrote them; they are checked where they are read


def check_header(section: str, found: Any, own: dict[str, Any]) -> None:
    """StateError where the values of a section's header are not of the kind that it would write itself."""
    if section in _OWN_CHECKS:
        return
    check_kinds(found, own, section)
    if section not in _ANY_NUMBER:
        _check_numbers(found, section)


def _check_numbers(value: Any, place: str) -> None:
    if isinstance(value, dict):
        for name, part in value.items():
            _check_numbers(part, f"{place}/{name}")
    elif isinstance(value, list):
        for at, part in enumerate(value):
            _check_numbers(part, f"{place}/{at}")
    elif isinstance(value, int | float) and not -_LARGEST <= value <= _LARGEST:
        raise StateError(f"{place} is {value} in this state; no engine writes such a number. Use an earlier one.")


def check_kinds(found: Any, own: Any, place: str) -> None:
    """What is there is as in a header of one's own: mappings with these names, lists, texts, finite numbers.

    A value that is not known yet in the own one may be anything but a text.
    """
    if not _alike(found, own):
        raise StateError(
            f"{place} is {found!r} in this state, where {own!r} would be in a new one. Use an earlier one."
        )
    if isinstance(own, dict):
        for name in own.keys() & found.keys():
            check_kinds(found[name], own[name], f"{place}/{name}")
    elif isinstance(own, list) and own and not isinstance(own[0], str):
        alike = isinstance(own[0], dict)  # as many of one kind as there are, or values each with its own meaning
        for at, part in enumerate(found[: None if alike else len(own)]):
            check_kinds(part, own[0 if alike else at], f"{place}/{at}")


def _alike(found: Any, own: Any) -> bool:
    if own is None:
        return not isinstance(found, str | bool)
    if isinstance(own, float) or (isinstance(own, int) and not isinstance(own, bool)):
        learned = isinstance(own, float) and isinstance(found, int | float)
        return (learned or type(found) is int) and not isinstance(found, bool) and isfinite(found)
    if isinstance(own, list | tuple) and isinstance(found, list | tuple):
        return len(found) >= len(own) or isinstance(own[0], dict | str)
    return type(found) is type(own)
