"""One base class, and one subclass per stage at which something can be wrong.

A message says where, what was needed, what came, and what to try.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class DovetailError(Exception):
    """Base of every error that Dovetail raises on purpose."""


class StreamError(DovetailError):
    """A stream is declared wrongly: its time column, window, delay or data."""


class QueryError(DovetailError):
    """The text or the options of a query cannot be understood or do not fit its streams."""


class PlanError(DovetailError):
    """A query is understood but cannot be run as asked."""


class DataError(DovetailError):
    """Rows given to a running query do not fit what its stream promised."""


class StateError(DovetailError):
    """A snapshot or checkpoint is damaged, or belongs to another query."""


class BudgetError(DovetailError):
    """A query cannot stay inside the CPU or memory it was given."""


class LateRowsWarning(UserWarning):
    """Rows were dropped because their stream came further out of order than its delay allows."""


def nearest(name: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: what there is, and a guess.

    >>> nearest("vaule", ["location", "value"])
    "it has: location, value. Did you mean 'value'?"
    """
    names = list(known)
    listed = f"it has: {', '.join(names)}" if names else "it has none"
    folded = {candidate.lower(): candidate for candidate in names}
    close = get_close_matches(name.lower(), folded, n=1) if isinstance(name, str) else []
    return f"{listed}. Did you mean {folded[close[0]]!r}?" if close else f"{listed}."
