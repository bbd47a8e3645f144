"""The scalar functions of the language on single Python values, none of them NULL.

>>> SCALAR["modulo"](-7, 3), SCALAR["like"]("dovetail", "d%t_il"), SCALAR["substring"]("window", 2, 3)
(-1, True, 'ind')
"""

import math
import operator
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any


def divide(a: Any, b: Any) -> Any:
    """A quotient; NULL if the divisor is zero."""
    return None if b == 0 else a / b


def modulo(a: Any, b: Any) -> Any:
    """A remainder with the sign of the dividend; NULL if the divisor is zero."""
    if b == 0:
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b) if math.isfinite(a) else math.nan
    remainder = abs(a) % abs(b)
    return -remainder if a < 0 else remainder


def like(text: str, pattern: str) -> bool:
    """``%`` stands for any run of characters, ``_`` for one; after a backslash they stand for themselves."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    expression = "".join({"%": ".*", "_": "."}.get(part, re.escape(part[-1])) for part in parts)
    return re.fullmatch(expression, text, re.DOTALL) is not None


def substring(text: str, start: int, length: int | None = None) -> str:
    """From the ``start``-th character, the first being 1; a negative start counts from the end."""
    begin = start - 1 if start > 0 else max(len(text) + start, 0) if start else 0
    return text[begin:] if length is None else text[begin : begin + max(length, 0)]


def round_half_away(value: Any, digits: int = 0) -> Any:
    """The nearest value with that many digits; halves go away from zero."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return type(value)(rounded)


def guarded(function: Callable[..., float]) -> Callable[..., float]:
    """Where Python raises, columns of floats hold NaN or infinity."""

    def guard(*values: float) -> float:
        try:
            return function(*map(float, values))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return guard


def logarithm(value: float) -> float:
    """Minus infinity at zero."""
    return -math.inf if value == 0 else math.log(value)


def sign(value: Any) -> Any:
    """-1, 0 or 1 in the type of the value; NaN stays NaN."""
    if value != value:
        return value
    return type(value)((value > 0) - (value < 0))


def whole(function: Callable[[Any], int]) -> Callable[[Any], Any]:
    """Rounding to a whole number that keeps the type of its argument."""

    def keep_type(value: Any) -> Any:
        return type(value)(function(value)) if math.isfinite(value) else value

    return keep_type


def epoch_us(value: datetime | date | timedelta) -> int:
    """Microseconds since 1970 of a moment or a day; microseconds of a duration."""
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    start = datetime(1970, 1, 1, tzinfo=UTC if moment.tzinfo else None)
    return (moment - start) // timedelta(microseconds=1)


def date_trunc(unit: str, value: datetime) -> datetime:
    """When the period began in which a time without a zone lies."""
    day = value.replace(hour=0, minute=0, second=0, microsecond=0)
    begun = {
        "microsecond": value,
        "millisecond": value.replace(microsecond=value.microsecond // 1000 * 1000),
        "second": value.replace(microsecond=0),
        "minute": value.replace(second=0, microsecond=0),
        "hour": value.replace(minute=0, second=0, microsecond=0),
        "day": day,
        "week": day - timedelta(days=day.weekday()) if day.toordinal() > 7 else day,
        "month": day.replace(day=1),
        "quarter": day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
        "year": day.replace(month=1, day=1),
    }
    return begun[unit]


def inner_product(a: Sequence[float | None], b: Sequence[float | None]) -> float | None:
    """The plain sum of products; NULL for vectors of different lengths or with a NULL inside."""
    if len(a) != len(b):
        return None
    total = 0.0
    for x, y in zip(a, b, strict=True):
        if x is None or y is None:
            return None
        total += x * y
    return total


def cosine_similarity(a: Sequence[float | None], b: Sequence[float | None]) -> float | None:
    """The cosine of the angle between two vectors; NULL if one of them is zero."""
    product, squares_a, squares_b = inner_product(a, b), inner_product(a, a), inner_product(b, b)
    if product is None or not squares_a or not squares_b:
        return None
    return product / (math.sqrt(squares_a) * math.sqrt(squares_b))


SCALAR: dict[str, Callable[..., Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "not": operator.not_,
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": divide,
    "modulo": modulo,
    "negate": operator.neg,
    "abs": abs,
    "like": like,
    "lower": str.lower,
    "upper": str.upper,
    "length": len,
    "trim": lambda text: text.strip(" "),
    "concat": lambda *parts: "".join(parts),
    "substring": substring,
    "round": round_half_away,
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "sqrt": guarded(math.sqrt),
    "power": guarded(math.pow),
    "exp": guarded(math.exp),
    "ln": guarded(logarithm),
    "sign": sign,
    "year": operator.attrgetter("year"),
    "month": operator.attrgetter("month"),
    "day": operator.attrgetter("day"),
    "hour": operator.attrgetter("hour"),
    "minute": operator.attrgetter("minute"),
    "second": operator.attrgetter("second"),
    "date_trunc": date_trunc,
    "epoch_us": epoch_us,
    "inner_product": inner_product,
    "cosine_similarity": cosine_similarity,
}
