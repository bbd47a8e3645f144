"""How far back a stream's tuples still take part in results."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from dovetail.errors import StreamError
from dovetail.model.duration import duration_text, duration_us
from dovetail.model.number import as_count

UNBOUNDED_US = 1 << 61  # 73,000 years: as long as between any two rows, and sums with times do not overflow


@dataclass(frozen=True)
class TimeWindow:
    """Inside while ``result_time - time <= length``; a length of zero means equal times."""

    length_us: int

    def __post_init__(self) -> None:
        if self.length_us not in (0, UNBOUNDED_US) and as_count(self.length_us) is None:
            raise StreamError(f"window: its length is a whole number of microseconds, not {self.length_us!r}")

    @property
    def unbounded(self) -> bool:
        """Whether rows are inside for ever."""
        return self.length_us >= UNBOUNDED_US

    def __str__(self) -> str:
        return "unbounded" if self.unbounded else duration_text(self.length_us)


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


def unbounded() -> TimeWindow:
    """No window: every row counts, however old. For input that ends; the state of a stream that goes on only grows.

    >>> import dovetail as dv
    >>> str(dv.unbounded())
    'unbounded'
    """
    return TimeWindow(UNBOUNDED_US)


def length_s(window: Window | None) -> float | None:
    """Seconds of a window that has a length in time."""
    return window.length_us / 1e6 if isinstance(window, TimeWindow) and not window.unbounded else None


def as_window(value: "str | timedelta | Window | Any") -> Window:
    """A window from what a user writes; StreamError if it cannot be one."""
    if isinstance(value, TimeWindow | RowWindow):
        return value
    try:
        return TimeWindow(duration_us(value))
    except ValueError as error:
        raise StreamError(f"window {error}") from error
