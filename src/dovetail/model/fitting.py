"""Options of a query that must fit its kind of join and each other."""

from typing import Any

from dovetail.errors import QueryError
from dovetail.model.budget import Budget
from dovetail.model.choice import as_choice
from dovetail.model.number import as_count


def check_how(how: str, streams: int) -> None:
    """Outer, semi and anti joins are for two streams."""
    if how != "inner" and streams != 2:
        raise QueryError(f"how={how!r} is for two streams, and this query has {streams}; only inner joins take more")


def check_partitions(partitions: Any) -> None:
    """None lets the session decide."""
    if partitions is not None and as_count(partitions) is None:
        raise QueryError(
            f"partitions={partitions!r}: it is a whole number, 1 or more, or None to let the session decide"
        )


def check_on_error(on_error: Any, budget: Budget | None) -> None:
    """Going on after a failure takes a second copy of the state, for which a memory budget has no room."""
    as_choice("on_error", on_error, ("raise", "divert"))
    if on_error == "divert" and budget is not None and budget.memory is not None:
        raise QueryError(
            "on_error='divert' keeps a second copy of the state to go back to, and budget(memory=...) has no room for "
            "it; leave out one of them"
        )


def check_budget(budget: Any, how: str, aggregates: bool, plan: Any) -> None:
    """Results may only be missing where a missing one makes no other row wrong."""
    if budget is not None and not isinstance(budget, Budget):
        raise QueryError(f"budget={budget!r}: make one with dovetail.budget(cpu=..., memory=...)")
    if budget is None or not budget.sheds:
        return
    if how != "inner" or aggregates:
        kind = "aggregates" if aggregates else f"how={how!r}"
        raise QueryError(
            f"budget: policy {budget.policy!r} leaves results out, and with {kind} a missing one would make another "
            "row wrong; it is for inner joins without aggregates. Take policy='spill' or 'fail'."
        )
    if plan not in ("auto", "multiway"):
        raise QueryError(f"budget: policy {budget.policy!r} is for one operator; leave out plan={plan!r}")
