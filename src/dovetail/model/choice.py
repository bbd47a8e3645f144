"""Options that take one of a few words, and the sentence about any other."""

from collections.abc import Sequence
from typing import Any, TypeVar

from dovetail.errors import QueryError

Word = TypeVar("Word", bound=str)


def not_one_of(option: str, value: object, choices: Sequence[str]) -> str:
    """The sentence: what came, and the words there are.

    >>> not_one_of("late", "x", ("drop", "keep"))
    "late='x': it is one of 'drop', 'keep'"
    """
    return f"{option}={value!r}: it is one of {', '.join(map(repr, choices))}"


def as_choice(option: str, value: Any, choices: Sequence[Word]) -> Word:
    """One of the words an option takes; QueryError at any other."""
    if not isinstance(value, str) or value not in choices:
        raise QueryError(not_one_of(option, value, choices))
    return choices[list(choices).index(value)]  # type: ignore[arg-type]  # it is one of them
