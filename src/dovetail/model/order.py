"""The adaptive order: wait at the door while that costs little, at the exit once it costs much."""

from dataclasses import dataclass

from dovetail.errors import QueryError


@dataclass(frozen=True)
class Adaptive:
    """Hold output instead of input once the expected gain passes ``alpha``."""

    alpha: float = 0.3

    def __str__(self) -> str:
        return f"adaptive({self.alpha})"


def adaptive(alpha: float = 0.3) -> Adaptive:
    """For ``order=``: in order, by whichever of "sync" and "hold" responds sooner.

    >>> import dovetail as dv
    >>> str(dv.adaptive(alpha=0.5))
    'adaptive(0.5)'
    """
    if not 0 <= alpha < 1:
        raise QueryError(f"adaptive(alpha={alpha!r}): alpha is a number from 0 up to, not including, 1")
    return Adaptive(alpha)
