"""The order of results; the adaptive one waits at the door while that costs little, at the exit once it costs much."""

from dataclasses import dataclass
from typing import Any

from dovetail.errors import QueryError
from dovetail.model.choice import as_choice
from dovetail.model.number import as_number

ORDERS = ("none", "sync", "hold", "adaptive")


@dataclass(frozen=True)
class Adaptive:
    """Hold output instead of input once the expected gain passes ``alpha``."""

    alpha: float = 0.3

    def __post_init__(self) -> None:
        alpha = as_number(self.alpha)
        if alpha is None or not 0 <= alpha < 1:
            raise QueryError(f"adaptive(alpha={self.alpha!r}): alpha is a number from 0 up to, not including, 1")
        object.__setattr__(self, "alpha", alpha)

    def __str__(self) -> str:
        return f"adaptive({self.alpha})"


def adaptive(alpha: float = 0.3) -> Adaptive:
    """For ``order=``: in order, by whichever of "sync" and "hold" responds sooner.

    >>> import dovetail as dv
    >>> str(dv.adaptive(alpha=0.5))
    'adaptive(0.5)'
    """
    return Adaptive(alpha)


def as_order(order: Any, aggregates: bool) -> str | Adaptive:
    """A word, or an ``adaptive`` with its setting; aggregates are always of results in order.

    >>> as_order("adaptive", False), as_order("none", True)
    (Adaptive(alpha=0.3), 'hold')
    """
    if isinstance(order, Adaptive):
        return order
    word = as_choice("order", order, ORDERS)
    if word == "adaptive":
        return Adaptive()
    return "hold" if aggregates and word == "none" else word
