"""Comparing results: the same rows however they are ordered, and an order that never goes back.

>>> import pyarrow as pa
>>> a = pa.table({"x": [1.0, float("nan"), None]})
>>> same_rows(a, a.take([2, 0, 1]))
True
>>> print(difference(a, a.slice(1)))
1 row missing:
  {'x': 1.0}
"""

import math
from collections import Counter
from collections.abc import Hashable
from itertools import pairwise
from typing import Any

import pyarrow as pa

_SHOWN = 10  # a screenful of wrong rows says as much as all


def same_rows(actual: pa.Table, expected: pa.Table) -> bool:
    """Whether two tables hold the same rows equally often; NULL is like NULL and NaN like NaN."""
    return _counted(actual) == _counted(expected)


def difference(expected: pa.Table, actual: pa.Table) -> str:
    """The rows missing from and unexpected in ``actual``, as text; empty if there are none."""
    wanted, got = _counted(expected), _counted(actual)
    lines = _listed("missing", wanted - got, expected) + _listed("unexpected", got - wanted, actual)
    return "\n".join(lines)


def assert_same_rows(actual: pa.Table, expected: pa.Table) -> None:
    """Fail, and say which rows are missing or unexpected, unless both hold the same rows."""
    assert actual.schema.equals(expected.schema), f"schemas differ:\n{actual.schema}\ninstead of:\n{expected.schema}"
    text = difference(expected, actual)
    assert not text, f"{actual.num_rows} rows instead of {expected.num_rows}\n{text}"


def assert_subset(actual: pa.Table, expected: pa.Table) -> None:
    """Fail unless every row of ``actual`` is in ``expected``, no more often than there."""
    extra = _listed("unexpected", _counted(actual) - _counted(expected), actual)
    assert not extra, "\n".join(extra)


def ordered(table: pa.Table) -> bool:
    """Whether ``result_time`` never goes back.

    >>> ordered(pa.table({"result_time": [1, 1, 3]})), ordered(pa.table({"result_time": [2, 1]}))
    (True, False)
    """
    times = table["result_time"].to_pylist()
    return all(earlier <= later for earlier, later in pairwise(times))


def canonical(value: Any) -> Hashable:
    """A stand-in for a value that is equal and hashes equally exactly where two values are alike."""
    if isinstance(value, float) and math.isnan(value):
        return ("NaN",)
    if isinstance(value, list | tuple):
        return ("list", *map(canonical, value))
    if isinstance(value, dict):
        return ("struct", *((name, canonical(item)) for name, item in value.items()))
    hashable: Hashable = value
    return hashable


def _rows(table: pa.Table) -> list[Hashable]:
    columns = [list(map(canonical, column.to_pylist())) for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _counted(table: pa.Table) -> Counter[Hashable]:
    return Counter(_rows(table))


def _listed(what: str, rows: Counter[Hashable], table: pa.Table) -> list[str]:
    count = rows.total()
    if not count:
        return []
    places = {row: place for place, row in enumerate(_rows(table))}
    shown = [f"  {table.slice(places[row], 1).to_pylist()[0]}{f' x {n}' if n > 1 else ''}" for row, n in rows.items()]
    more = [f"  and {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return [f"{count} row{'s' if count > 1 else ''} {what}:", *shown[:_SHOWN], *more]
