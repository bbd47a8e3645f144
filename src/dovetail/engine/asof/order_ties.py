"""Rows that share their time and key, put in order of their values: the largest comes last, and is the best.

time 3: (k=1, v=7) (k=2, v=1) (k=1, v=5)   ->   (k=1, v=5) (k=2, v=1) (k=1, v=7)

NULL comes before NaN, and NaN before numbers. Structures are compared field by field, lists element by element, and of
two that agree as far as both go the longer is larger.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.kernels.asof import mark_tied
from dovetail.model.orderable import is_listed

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
    keys += [key for name in names for key in _keys(columns[name].take(some))]
    groups = np.lexsort((slots[rows], times[rows]))
    places = np.arange(len(times))
    places[rows[groups]] = rows[_order(keys)]
    return places


def _order(keys: Sequence[pa.Array]) -> Integers:
    table = pa.table(list(keys), [str(at) for at in range(len(keys))])
    order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in table.column_names])
    return np.asarray(order.to_numpy(), np.int64)


def _keys(column: pa.Array) -> list[pa.Array]:
    """What values are compared by, one key after the other."""
    known = [pc.is_valid(column)] if column.null_count else []
    if pa.types.is_floating(column.type):
        number = pc.invert(pc.is_nan(column))
        return [*known, number, pc.if_else(number, column, pa.scalar(None, column.type))]
    if pa.types.is_struct(column.type):
        return [*known, *(key for field in column.flatten() for key in _keys(field))]
    return [*known, _ranked_elements(column) if is_listed(column.type) else column]


def _ranked_elements(lists: pa.Array) -> pa.Array:
    """Lists as bytes, which are in the same order: each element as its rank among all, the first byte the largest."""
    if pa.types.is_map(lists.type):
        entries = pa.StructArray.from_arrays([lists.keys, lists.items], ["key", "value"])
        lists = pa.ListArray.from_arrays(lists.offsets, entries, mask=lists.is_null())
    ranks = _ranks(lists.flatten()).astype(">i8")
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]) * ranks.itemsize
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(lists), [None, pa.py_buffer(ends), pa.py_buffer(ranks)]
    )


def _ranks(values: pa.Array) -> Integers:
    """The place of each value in the order of all; equal ones have the same."""
    keys, ranks = _keys(values), np.zeros(len(values), np.int64)
    order = _order(keys)
    differs = np.zeros(max(len(values) - 1, 0), np.bool_)
    for key in (key.take(pa.array(order)) for key in keys):
        differs |= pc.fill_null(pc.not_equal(key[1:], key[:-1]), False).to_numpy(zero_copy_only=False)
    ranks[order[1:]] = np.cumsum(differs)
    return ranks
