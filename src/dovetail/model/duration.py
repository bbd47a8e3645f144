"""Durations: text or timedelta at the surface, integer microseconds inside."""

import re
from datetime import timedelta

_UNITS_US = {
    "microsecond": 1,
    "us": 1,
    "millisecond": 1_000,
    "ms": 1_000,
    "second": 1_000_000,
    "s": 1_000_000,
    "sec": 1_000_000,
    "minute": 60_000_000,
    "min": 60_000_000,
    "hour": 3_600_000_000,
    "h": 3_600_000_000,
    "day": 86_400_000_000,
    "d": 86_400_000_000,
    "week": 604_800_000_000,
}
_LONGEST_US = 1 << 60  # 36,000 years: sums with a time stay within 64 bits
# The longest that periods of the calendar last, by the words of DATE_TRUNC.
PERIODS_US = {
    name: _UNITS_US[name] for name in ("microsecond", "millisecond", "second", "minute", "hour", "day", "week")
}
PERIODS_US |= {"month": 31 * _UNITS_US["day"], "quarter": 92 * _UNITS_US["day"], "year": 366 * _UNITS_US["day"]}
_TEXT = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


def duration_us(value: str | timedelta) -> int:
    """Microseconds of a duration; ValueError says what is wrong with it.

    >>> duration_us("1 minute"), duration_us("1.5 s"), duration_us(timedelta(hours=1))
    (60000000, 1500000, 3600000000)
    """
    if isinstance(value, timedelta):
        amount = value // timedelta(microseconds=1)
    elif isinstance(value, str):
        amount = _parse(value)
    else:
        raise ValueError(f"{value!r} is not a duration; write it like '10 minutes' or as a timedelta")
    if amount < 0:
        raise ValueError(f"{value!r} is negative; a duration is zero or more")
    if amount > _LONGEST_US:
        raise ValueError(f"{value!r} is too long; a duration is at most 36,000 years")
    return amount


def _parse(text: str) -> int:
    match = _TEXT.fullmatch(text)
    unit = match and (_UNITS_US.get(match[2].lower()) or _UNITS_US.get(match[2].lower().removesuffix("s")))
    if not match or not unit:
        raise ValueError(f"{text!r} is not a duration; write a number and a unit, like '10 minutes' or '1.5 seconds'")
    amount = min(float(match[1]) * unit, 2.0 * _LONGEST_US)  # infinity cannot be rounded
    return round(amount) if "." in match[1] or amount > _LONGEST_US else int(match[1]) * unit


def duration_text(us: int) -> str:
    """The shortest exact way to write a duration.

    >>> duration_text(60_000_000), duration_text(1_500_000), duration_text(0)
    ('1 minute', '1500 milliseconds', '0 seconds')
    """
    for name in ("week", "day", "hour", "minute", "second", "millisecond", "microsecond"):
        unit = _UNITS_US[name]
        if us and us % unit == 0:
            count = us // unit
            return f"{count} {name}" if count == 1 else f"{count} {name}s"
    return "0 seconds"


def duration_at_least(us: int) -> str:
    """A duration that is easy to read and not shorter: whole units of the largest that fits into it.

    >>> duration_at_least(61_300_000), duration_at_least(60_000_000), duration_at_least(250)
    ('2 minutes', '1 minute', '250 microseconds')
    """
    for name in ("day", "hour", "minute", "second", "millisecond"):
        unit = _UNITS_US[name]
        if us >= unit:
            return duration_text(-(-us // unit) * unit)
    return duration_text(us)
