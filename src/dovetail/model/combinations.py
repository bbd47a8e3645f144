"""Which features of a query go together: one table for the checks, the tests and docs/reference/combinations.md.

A combination gives each axis one of its words; it is refused by the first row of ``REFUSALS`` that it meets, and runs
if it meets none. To allow more, take a row away; everything else follows.

    >>> refusal({"how": "left", "budget": "cpu harvest"}).instead
    "Take policy='spill' or 'fail'."
    >>> refusal({"how": "left", "budget": "memory spill"})
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.errors import QueryError
from dovetail.model.budget import Budget
from dovetail.model.how import BY_STREAM, HOWS
from dovetail.model.order import Adaptive
from dovetail.model.window import RowWindow, TimeWindow

# The first word of an axis is what a query has that says nothing.
AXES: Mapping[str, tuple[str, ...]] = {
    "how": (*HOWS, BY_STREAM),  # by stream: one word for each of several streams
    "windows": ("time", "unbounded", "rows", "rows per key", "as of"),  # as of: only the best rows of a stream count
    "order": ("none", "sync", "hold", "adaptive"),
    "late": ("drop", "keep", "divert"),
    # deep: the last stream, or one of rows, is below the top; shared tree: one of many queries asks for a tree
    "runs": ("alone", "tree", "deep tree", "shared", "shared tree"),
    "budget": (
        "none",
        "cpu harvest",
        "cpu drop",
        "memory harvest",
        "memory spill",
        "memory fail",
        "cpu and memory harvest",
        "cpu and memory drop",
    ),
    "aggregates": ("no", "yes"),
    "algorithm": ("auto", "hash", "scan", "sorted"),
    "idle": ("no", "yes"),
    "ahead": ("no", "yes"),
    "dedup": ("no", "yes"),
    "on_error": ("raise", "divert"),
    "runtime": ("embedded", "spark"),
}
Combination = Mapping[str, str]

_NOT_INNER = AXES["how"][1:]
_BUDGETS = AXES["budget"][1:]
SHEDS = tuple(word for word in _BUDGETS if "harvest" in word or "drop" in word)
_OF_MEMORY = tuple(word for word in _BUDGETS if "memory" in word)
_COUNTED = ("rows", "rows per key")
_TREES = ("tree", "deep tree", "shared tree")


@dataclass(frozen=True)
class Refusal:
    """Combinations that are refused: those that have one of the words of every axis named, and why."""

    when: Mapping[str, tuple[str, ...]]
    why: str
    instead: str

    def meets(self, combination: Combination) -> bool:
        return all(combination.get(axis, AXES[axis][0]) in words for axis, words in self.when.items())

    def text(self, combination: Combination) -> str:
        """The sentence of an error: the words that do not go together, the reason, and the nearest that works."""
        named = [f"{axis}={combination[axis]!r}" for axis in self.when]
        refused = "do not go together" if len(named) > 1 else "is not possible"
        return f"{' and '.join(named)} {refused}: {self.why}. {self.instead}"


_AS_OF = {"windows": ("as of",)}
_BY_STREAM = {"how": (BY_STREAM,)}
_FALSE_ROW = "what is left out would make another row wrong, for which it was a partner or was counted"

REFUSALS: tuple[Refusal, ...] = (
    Refusal({"how": _NOT_INNER, "budget": SHEDS}, _FALSE_ROW, "Take policy='spill' or 'fail'."),
    Refusal({"aggregates": ("yes",), "budget": SHEDS}, _FALSE_ROW, "Take policy='spill' or 'fail'."),
    Refusal(
        {"aggregates": ("yes",), "windows": _COUNTED},
        "a row window has no length, so it is not known when a result ceases to count",
        "Give every stream a time window.",
    ),
    Refusal(
        {"how": _NOT_INNER, "runs": _TREES},
        "a tree joins the results of joins, and this kind of join judges every row by all streams at once",
        "Take plan='multiway'.",
    ),
    Refusal(
        {"runs": ("deep tree",), "windows": _COUNTED},
        "what pushes a row out of its window may come after its results were handed up",
        "Join the stream at the top of the tree, or take plan='multiway'.",
    ),
    Refusal(
        {"runs": _TREES, "idle": ("yes",)},
        "a silent stream follows all others, and an operator of a tree sees only some of them",
        "Take plan='multiway', or advance streams by hand.",
    ),
    Refusal(
        {"runs": _TREES, "ahead": ("yes",)},
        "how far ahead a row lies is judged by all streams, and an operator of a tree sees only some of them",
        "Take plan='multiway'.",
    ),
    Refusal(
        {"on_error": ("divert",), "budget": _OF_MEMORY},
        "going back after a failure takes a second copy of the state, for which a memory budget has no room",
        "Leave out one of them.",
    ),
    Refusal(
        {"runs": ("shared tree",)},
        "queries that share are one operator, of which each takes its own results, and a tree has several",
        "Leave out plan=, take plan='multiway', or let it run alone.",
    ),
    Refusal(
        {"on_error": ("divert",), "runs": ("shared", "shared tree")},
        "one query's failure would take back the rows of all",
        "Let it run alone.",
    ),
    Refusal(
        {"on_error": ("divert",), "runtime": ("spark",)},
        "a batch that fails is tried again by Spark, and then ends the query",
        "Have the function give NULL for rows it cannot judge.",
    ),
    Refusal(
        _BY_STREAM | {"windows": _COUNTED},
        "a row window has no length by which a combination lacks a partner for certain, or a row begins one of its own",
        "Give every stream a time window.",
    ),
    Refusal(
        _BY_STREAM | {"late": ("keep",)},
        "a late row could be the partner of a row that came out without one",
        "Take late='drop' or 'divert'.",
    ),
    Refusal(
        _AS_OF | {"how": ("right", "full", "semi", "anti")},
        "an as-of join answers the rows of one stream, with or without what the others have",
        "Take 'inner' or 'left'.",
    ),
    Refusal(
        _AS_OF | {"late": ("keep",)},
        "a late row could change an answer that was given",
        "Take late='drop' or 'divert'.",
    ),
    Refusal(_AS_OF | {"runs": _TREES}, "an as-of join is one operator, and has no tree", "Leave out plan=."),
    Refusal(
        _AS_OF | {"budget": SHEDS},
        "a row that is left out would make another the best",
        "Take memory with policy='spill' or 'fail', or give a shorter tolerance.",
    ),
    Refusal(
        _AS_OF | {"aggregates": ("yes",)},
        "results of an as-of join have no window to count in",
        "Aggregate afterwards.",
    ),
    Refusal(
        _AS_OF | {"algorithm": AXES["algorithm"][1:]},
        "its rows are stored in one way, in chains by key",
        "Leave it out.",
    ),
)


def refusal(combination: Combination) -> Refusal | None:
    """Why a combination does not run; None if it does. An axis left out has its first word."""
    return next((each for each in REFUSALS if each.meets(combination)), None)


def features_of(query: Any, runs: str | None = None, runtime: str = "embedded") -> dict[str, str]:
    """A query as a combination; one with a plan of several operators is a tree, also as one of many ("shared")."""
    shape = _shape(query)
    windows = [stream.window for stream in query.streams if isinstance(stream.window, RowWindow)]
    endless = any(isinstance(stream.window, TimeWindow) and stream.window.unbounded for stream in query.streams)
    return {
        "how": BY_STREAM if query.stepwise else query.how,
        "windows": "as of"
        if query.answered
        else "unbounded"
        if endless and not windows
        else "time"
        if not windows
        else "rows per key"
        if windows[0].per == "key"
        else "rows",
        "order": "adaptive" if isinstance(query.order, Adaptive) else query.order,
        "late": query.late,
        "runs": "shared tree" if runs == "shared" and shape != "alone" else runs or shape,
        "budget": _budget_word(query.budget),
        "aggregates": "yes" if query.aggregation else "no",
        "algorithm": "auto" if query.algorithm == "auto" else next(iter(query.algorithm.values()), "auto"),
        "idle": "yes" if any(stream.idle_us is not None for stream in query.streams) else "no",
        "ahead": "yes" if any(stream.ahead_us is not None for stream in query.streams) else "no",
        "dedup": "yes" if any(stream.dedup is not None for stream in query.streams) else "no",
        "on_error": query.on_error,
        "runtime": runtime,
    }


def _shape(query: Any) -> str:
    """How a query runs by itself; a binary tree has all but the last stream below the top."""
    if query.plan in ("auto", "multiway") or len(query.streams) < 3:
        return "alone"
    names = query.names
    top = names[-1:] if query.plan == "binary" else [part for part in query.plan if isinstance(part, str)]
    below = [stream for stream in query.streams if stream.name not in top]
    return "deep tree" if any(isinstance(stream.window, RowWindow) for stream in below) else "tree"


def _budget_word(budget: Budget | None) -> str:
    if budget is None:
        return "none"
    limited = [part for part in ("cpu", "memory") if getattr(budget, part) is not None]
    return f"{' and '.join(limited)} {budget.policy}"


def check_combination(query: Any, runs: str | None = None, runtime: str = "embedded", of: str = "") -> None:
    """QueryError if the query's features do not go together."""
    features = features_of(query, runs, runtime)
    found = refusal(features)
    if found is not None:
        raise QueryError(f"{of}{found.text(features)}")
