"""As-of streams: of such a stream only the one best row for each row of the stream that is answered.

backward   the last row at or before the time of the row to be answered
forward    the first row at or after it
nearest    the row with the smallest distance in time; of two with the same distance the earlier one
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from dovetail.errors import StreamError
from dovetail.model.choice import not_one_of
from dovetail.model.duration import duration_text, duration_us

Direction = Literal["backward", "forward", "nearest"]
Missing = Literal["inner", "left"]

DIRECTIONS: tuple[Direction, ...] = ("backward", "forward", "nearest")
MISSING: tuple[Missing, ...] = ("inner", "left")


@dataclass(frozen=True)
class AsOf:
    """Which row is the best; ``how`` says what becomes of a row that has none: nothing, or NULL.

    ``offset_us``: as of so much after the time of the row that is answered, or before it.
    """

    direction: Direction = "backward"
    tolerance_us: int | None = None
    equal: bool = True
    how: Missing = "inner"
    offset_us: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise StreamError(f"asof: {not_one_of('direction', self.direction, DIRECTIONS)}")
        if self.how not in MISSING:
            raise StreamError(f"asof: {not_one_of('how', self.how, MISSING)}")
        if not isinstance(self.equal, bool):
            raise StreamError(f"asof: equal={self.equal!r}: it is True or False")
        within = self.tolerance_us
        if within is not None and (isinstance(within, bool) or not isinstance(within, int) or within < 0):
            raise StreamError(f"asof: tolerance is a whole number of microseconds, 0 or more, not {within!r}")
        if within == 0 and not self.equal:
            raise StreamError(
                "asof: with tolerance 0 only equal times match, and equal=False leaves them out; nothing can match"
            )

    def __str__(self) -> str:
        within = "" if self.tolerance_us is None else f" within {duration_text(self.tolerance_us)}"
        moment = "" if not self.offset_us else f" of {duration_text(abs(self.offset_us))} {self._side}"
        return f"{self.direction}{within}{moment}{'' if self.equal else ', not at the same time'}"

    @property
    def _side(self) -> str:
        return "before it" if self.offset_us < 0 else "after it"

    @property
    def waits(self) -> bool:
        """Whether an answer may lie in the future of the row to be answered."""
        return self.direction != "backward"

    @property
    def gap_us(self) -> int:
        """The smallest distance that counts: one microsecond if equal times do not."""
        return 0 if self.equal else 1


def asof(direction: Any = "backward", tolerance: str | timedelta | None = None, equal: bool = True) -> AsOf:
    """For ``stream(..., asof=...)``: only the best row of the stream for each row of the one that is answered.

    ``tolerance`` is how far away it may be. It is also how long a row is kept: without it the last row of every
    key stays. ``equal=False`` leaves out rows of the same time.

    >>> import dovetail as dv
    >>> str(dv.asof("nearest", tolerance="5 seconds"))
    'nearest within 5 seconds'
    """
    try:
        within = None if tolerance is None else duration_us(tolerance)
    except ValueError as error:
        raise StreamError(f"asof: tolerance {error}") from error
    return AsOf(direction, within, equal)
