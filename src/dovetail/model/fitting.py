"""Options of a query that must fit its kind of join and each other."""

from typing import Any

from dovetail.errors import QueryError
from dovetail.model.budget import Budget
from dovetail.model.number import as_count


def check_partitions(partitions: Any) -> None:
    """None lets the session decide."""
    if partitions is not None and as_count(partitions) is None:
        raise QueryError(
            f"partitions={partitions!r}: it is a whole number, 1 or more, or None to let the session decide"
        )


def check_threads(threads: Any) -> None:
    """None stands for all cores."""
    if threads is not None and as_count(threads) is None:
        raise QueryError(f"threads={threads!r}: it is a whole number, 1 or more, or None for all cores")


def check_limit(limit: Any) -> None:
    """Rows after which to stop."""
    if as_count(limit) is None:
        raise QueryError(f"limit={limit!r}: it is a whole number of rows, 1 or more, or None for all")


def check_budget(budget: Any) -> None:
    """None, or a budget; which one goes with what else is in the table of combinations."""
    if budget is not None and not isinstance(budget, Budget):
        raise QueryError(f"budget={budget!r}: make one with dovetail.budget(cpu=..., memory=...)")
