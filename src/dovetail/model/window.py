"""How far back a stream's tuples still take part in results."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from dovetail.errors import StreamError
from dovetail.model.duration import duration_text, duration_us
from dovetail.model.number import as_count


@dataclass(frozen=True)
class TimeWindow:
    """Inside while ``result_time - time <= length``; a length of zero means equal times."""

    length_us: int

    def __post_init__(self) -> None:
        if self.length_us != 0 and as_count(self.length_us) is None:
            raise StreamError(f"window: its length is a whole number of microseconds, not {self.length_us!r}")

    def __str__(self) -> str:
        return duration_text(self.length_us)


@dataclass(frozen=True)
class RowWindow:
    """Inside while among the last ``count`` tuples of the stream, or of the stream's key."""

    count: int
    per: Literal["stream", "key"] = "stream"

    def __post_init__(self) -> None:
        count = as_count(self.count)
        if count is None:
            raise StreamError(f"rows({self.count!r}): a row window needs a whole number of rows, 1 or more")
        if self.per not in ("stream", "key"):
            raise StreamError(f"rows({count}, per={self.per!r}): per is 'stream' or 'key'")
        object.__setattr__(self, "count", count)

    def __str__(self) -> str:
        return f"{self.count} rows per key" if self.per == "key" else f"{self.count} rows"


Window = TimeWindow | RowWindow


def rows(count: int, per: Literal["stream", "key"] = "stream") -> RowWindow:
    """A window of the last ``count`` tuples, of the whole stream or of each key.

    >>> import dovetail as dv
    >>> str(dv.rows(100, per="key"))
    '100 rows per key'
    """
    return RowWindow(count, per)


def as_window(value: "str | timedelta | Window | Any") -> Window:
    """A window from what a user writes; StreamError if it cannot be one."""
    if isinstance(value, TimeWindow | RowWindow):
        return value
    try:
        return TimeWindow(duration_us(value))
    except ValueError as error:
        raise StreamError(f"window {error}") from error
