"""Rows that share their time and key, put in order of their values: the largest comes last, and is the best.

time 3: (k=1, v=7) (k=2, v=1) (k=1, v=5)   ->   (k=1, v=5) (k=2, v=1) (k=1, v=7)
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.kernels.asof import mark_tied

Integers = npt.NDArray[np.int64]


def order_ties(
    columns: Mapping[str, pa.Array], times: Integers, slots: npt.NDArray[np.int32], names: Sequence[str]
) -> Integers | None:
    """Where rows go, which are in order of time; None if they stay. Rows are compared by the columns ``names``."""
    tied = np.zeros(len(times), np.bool_)
    if not mark_tied(times, slots, tied):
        return None
    rows = np.flatnonzero(tied)
    some = pa.array(rows)
    keys = [pa.array(times[rows]), pa.array(slots[rows])]
    keys += [key for name in names for key in _ranked(columns[name].take(some))]
    table = pa.table(keys, [str(at) for at in range(len(keys))])
    order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in table.column_names])
    groups = np.lexsort((slots[rows], times[rows]))
    places = np.arange(len(times))
    places[rows[groups]] = rows[order.to_numpy()]
    return places


def _ranked(column: pa.Array) -> list[pa.Array]:
    """What values are compared by: NULL comes before NaN, and NaN before numbers."""
    known = [pc.is_valid(column)] if column.null_count else []
    return [*known, *([pc.invert(pc.is_nan(column))] if pa.types.is_floating(column.type) else []), column]
