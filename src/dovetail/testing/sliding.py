"""Sliding aggregates by definition: at every moment that matters, everything is counted again from nothing.

A result counts from its time up to and including its ``until``; one that comes out later, without a partner, counts at
its time. The moments of a group are the times at which a result
of it comes, and those just after one has gone. Each gives one row, over the results that count at that moment.

    results of one group: 5 .. 9 (value 1), 5 .. 7 (value 3)      SUM at 5: 4     at 8: 1     at 10: NULL
"""

import math
from collections.abc import Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from dovetail.model.aggregate import FOR_EVER, GROUP, UNTIL, Aggregate
from dovetail.model.query import JoinQuery
from dovetail.testing.compare import canonical
from dovetail.testing.interpret import interpret

Joined = dict[str, Any]


def aggregated(query: JoinQuery, joined: pa.Table) -> pa.Table:
    """What the aggregates of a query must give, from the rows that its join gives."""
    assert query.aggregation is not None
    times = joined["result_time"].cast(pa.int64()).to_pylist()
    rows = [
        {**row, "from": time, UNTIL: max(time, row[UNTIL])} for row, time in zip(joined.to_pylist(), times, strict=True)
    ]
    found = [
        (moment, _values(query, members, moment)) for members in _groups(query, rows) for moment in _moments(members)
    ]
    having = query.aggregation.having
    if having is not None:
        found = [(moment, row) for moment, row in found if interpret(having, {GROUP: row}) is True]
    found.sort(key=lambda each: each[0])
    columns = [
        pa.array([interpret(output.expression, {GROUP: row}) for _, row in found], output.expression.type)
        for output in query.aggregation.select
    ]
    moments = pa.array([moment for moment, _ in found], pa.int64()).cast(query.time_type)
    return pa.Table.from_arrays([moments, *columns], schema=query.schema)


def _groups(query: JoinQuery, rows: Sequence[Joined]) -> list[list[Joined]]:
    assert query.aggregation is not None
    groups: dict[Hashable, list[Joined]] = {}
    for row in rows:
        key = tuple(canonical(row[name]) for name in query.aggregation.keys)
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _moments(members: Sequence[Joined]) -> list[int]:
    return sorted({row["from"] for row in members} | {row[UNTIL] + 1 for row in members if row[UNTIL] < FOR_EVER})


def _values(query: JoinQuery, members: Sequence[Joined], moment: int) -> dict[str, Any]:
    assert query.aggregation is not None
    counting = [row for row in members if row["from"] <= moment <= row[UNTIL]]
    values = {key: members[0][key] for key in query.aggregation.keys}
    before = [row for row in members if row["from"] < moment <= row[UNTIL] + 1]
    return values | {
        each.name: len(before) if each.function == "before" else _value(each, counting, query.joined)
        for each in query.aggregation.aggregates
    }


def _value(aggregate: Aggregate, counting: Sequence[Joined], joined: pa.Schema) -> Any:
    if aggregate.argument is None:
        return len(counting)
    values = [row[aggregate.argument] for row in counting if row[aggregate.argument] is not None]
    if aggregate.function == "count":
        return len({canonical(value) for value in values}) if aggregate.distinct else len(values)
    if not values:
        return None
    if aggregate.function in ("min", "max"):
        numbers = [value for value in values if value == value] or values
        return min(numbers) if aggregate.function == "min" else max(numbers)
    if aggregate.function == "sum":
        return _held(exact_sum(values), aggregate.type)
    whole = pa.types.is_integer(joined.field(aggregate.argument).type)
    return average(values if whole else [float(value) for value in values])


def _held(total: Any, type_: pa.DataType) -> Any:
    """A sum as its type holds it: NULL while it is too large."""
    digits = 10 ** (type_.precision - type_.scale) if pa.types.is_decimal(type_) else 0
    fits = abs(total) < digits if digits else not isinstance(total, int) or -(2**63) <= total < 2**63
    return total if fits else None


def average(values: Sequence[Any]) -> float:
    """The double nearest to the exact average."""
    if not all(map(math.isfinite, values)):
        return float(exact_sum(values))
    return float(sum(map(Fraction, values), Fraction(0)) / len(values))


def exact_sum(values: Sequence[Any]) -> Any:
    """The sum without rounding on the way; of doubles, the double nearest to it."""
    if not isinstance(values[0], float):
        return sum(values, type(values[0])(0)) if not isinstance(values[0], Decimal) else _decimal_sum(values)
    if not all(map(math.isfinite, values)):
        return sum(value for value in values if not math.isfinite(value))
    exact = sum(map(Fraction, values), Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def _decimal_sum(values: Sequence[Decimal]) -> Decimal:
    """Scaled to whole numbers, because Decimal itself rounds to 28 digits."""
    exponent = min(int(value.as_tuple().exponent) for value in values)
    whole = sum(int(value.scaleb(-exponent)) if exponent else int(value) for value in values)
    sign, digits = int(whole < 0), tuple(map(int, str(abs(whole))))
    return Decimal((sign, digits, exponent))
