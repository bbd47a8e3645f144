"""The options of a sink that say how its query is run: everything that ``dv.join`` takes, as text.

    WITH (..., order = 'hold', memory = '512 MB', policy = 'spill', spill_folder = '/fast',
          plan = '((A, B), C)', algorithm = 'A hash, B scan', partitions = 4)

Each becomes the value that the option of the same name has in Python; the model checks them, so that a pipeline file
and a program are refused with the same sentence.
"""

import re
from typing import Any

from dovetail.errors import QueryError
from dovetail.model.budget import budget, tuples
from dovetail.model.order import ORDERS
from dovetail.sql.options import Options

_LATE = ("drop", "keep", "divert")
_INVALIDATIONS = ("auto", "active", "lazy")
_TUPLES = re.compile(r"\s*(\d+)\s*tuples\s*", re.IGNORECASE)
_WORD = re.compile(r"[^\s(),]+|[(),]")


def read_run_options(options: Options) -> dict[str, Any]:
    """The options of ``dv.sql`` that a sink states; those it does not state are left out."""
    found: dict[str, Any] = {"order": options.choice("order", ORDERS), "late": options.choice("late", _LATE)}
    invalidation = options.choice("invalidation", _INVALIDATIONS)
    given = {
        "invalidation": None if invalidation == "auto" else invalidation,
        "partitions": options.number("partitions", int),
        "algorithm": options.read("algorithm", _algorithm),
        "plan": options.read("plan", _plan),
        "budget": _budget(options),
    }
    return found | {name: value for name, value in given.items() if value is not None}


def read_late_path(options: Options, late: str, checkpoint: str | None) -> str | None:
    """The folder for rows that do not come in, which ``late = 'divert'`` needs and nothing else has."""
    if late != "divert":
        options.refuse("late_path", f"it is for the rows of late = 'divert', and late is {late!r}")
        return None
    if checkpoint is None:
        return options.needed("checkpoint")
    return options.needed("late_path")


def _budget(options: Options) -> Any:
    given: dict[str, Any] = {
        "cpu": options.number("cpu", float),
        "memory": options.read("memory", _memory),
        "policy": options.taken("policy"),
        "min_completeness": options.number("min_completeness", float),
        "strict": options.read("strict", _truth),
        "folder": options.taken("spill_folder"),
    }
    stated = {name: value for name, value in given.items() if value is not None}
    return options.here(lambda: budget(**stated)) if stated else None


def _memory(text: str) -> Any:
    counted = _TUPLES.fullmatch(text)
    return tuples(int(counted[1])) if counted else text


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise QueryError(f"must be true or false, got {text!r}")
    return text.lower() == "true"


def _algorithm(text: str) -> Any:
    """One word for all streams, or a list of streams with a word each.

    >>> _algorithm("hash"), _algorithm("A hash, B scan")
    ('hash', {'A': 'hash', 'B': 'scan'})
    """
    if len(text.split()) == 1:
        return text.lower()
    pairs = [part.split() for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise QueryError(f"must be one word, or a list such as 'A hash, B scan', got {text!r}")
    return {stream: word.lower() for stream, word in pairs}


def _plan(text: str) -> Any:
    """A word, or a nesting of streams.

    >>> _plan("binary"), _plan("((A, B), C)")
    ('binary', (('A', 'B'), 'C'))
    """
    words = _WORD.findall(text)
    if len(words) == 1:
        return text.strip().lower()
    tree, rest = _nested(words, text)
    if rest:
        raise _no_nesting(text)
    return tree


def _nested(words: list[str], text: str) -> tuple[Any, list[str]]:
    if not words or words[0] in (")", ","):
        raise _no_nesting(text)
    if words[0] != "(":
        return words[0], words[1:]
    parts, rest = [], words[1:]
    while True:
        part, rest = _nested(rest, text)
        parts.append(part)
        if not rest or rest[0] not in (",", ")"):
            raise _no_nesting(text)
        end, rest = rest[0], rest[1:]
        if end == ")":
            return tuple(parts), rest


def _no_nesting(text: str) -> QueryError:
    return QueryError(f"must be a word, or a nesting of streams such as '((A, B), C)', got {text!r}")
