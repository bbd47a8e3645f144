"""Constants: what the text of a number, a time or an interval stands for.

    40      ->  int64 40              '2026-01-01' beside a timestamp   ->  that timestamp
    1.5     ->  double 1.5            INTERVAL '5' SECOND               ->  a duration of 5,000,000 microseconds

A time without offset is in the zone of what it stands beside (on Spark that of the session), or UTC.
"""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.duration import duration_us
from dovetail.model.expression import Literal
from dovetail.model.zone import zone
from dovetail.sql.dialect import sql_text

DURATION = pa.duration("us")


def number_literal(text: str) -> Literal:
    """An integer in the smallest of int64, uint64 and decimal that holds it; anything else is a float64."""
    if not text.isdecimal():
        try:
            value = float(text)
        except ValueError:
            raise QueryError(f"{text} is not a number; write it like 0.9") from None
        if value in (float("inf"), float("-inf")):
            raise QueryError(f"the number {text} is too large")
        return Literal(value, pa.float64())
    if len(text) > 38:
        raise QueryError(f"the number {text} is too large")
    whole = int(text)
    if whole < 2**63:
        return Literal(whole, pa.int64())
    return Literal(whole, pa.uint64()) if whole < 2**64 else Literal(Decimal(whole), pa.decimal128(38, 0))


def interval_literal(node: exp.Interval) -> Literal:
    """INTERVAL '5' SECOND, INTERVAL 5 MINUTES, INTERVAL '5 minutes'."""
    amount, unit = node.this, node.args.get("unit")
    sign = -1 if isinstance(amount, exp.Neg) else 1
    amount = amount.this if isinstance(amount, exp.Neg) else amount
    if not isinstance(amount, exp.Literal) or unit is None:
        raise QueryError(f"cannot read {sql_text(node)}; write an interval like INTERVAL '5' SECOND")
    text = str(amount.this).strip()
    sign, text = (-sign, text[1:]) if text.startswith("-") else (sign, text)
    try:
        return Literal(sign * timedelta(microseconds=duration_us(f"{text} {unit.name.lower()}")), DURATION)
    except (ValueError, OverflowError) as error:
        raise QueryError(f"cannot read {sql_text(node)}: {error}") from None


def time_literal(text: str, beside: pa.DataType) -> Literal:
    """A text that stands beside a date or a timestamp; ValueError if it is no time."""
    moment = datetime.fromisoformat(text.strip())
    if pa.types.is_date(beside):
        if len(text.strip()) <= 10:
            return Literal(moment.date(), pa.date32())
        beside = pa.timestamp("us", tz="UTC" if moment.tzinfo else None)
    return Literal(in_zone(moment, beside), beside)


def in_zone(moment: date, type: pa.DataType) -> datetime:
    """The moment as a value of a timestamp type: aware, read in its zone, or naive in UTC if it has none."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if type.tz is None:
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    aware = moment if moment.tzinfo else moment.replace(tzinfo=zone(type.tz))
    return aware.astimezone(UTC)
