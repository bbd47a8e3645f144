"""MIN and MAX of any type that has an order: a heap per group.

Results do not leave in the order in which they came (that depends on their oldest member), so a queue will not do.
What has left stays in the heap until it comes to its top; the stage starts afresh once most of a heap is such.

    numbers, times, booleans     the key is the value in 64 bits
    texts, bytes, long decimals  the key is the first 8 bytes; the rest is in a pool and decides between equal keys
    NaN                          comes last, whether the least or the greatest is asked for
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.admit.derive import valid_rows
from dovetail.engine.block.arrow_values import layout, text_buffers, values_of
from dovetail.engine.deliver.sliding.changes import Changes, Integers, grown
from dovetail.engine.kernels.heaps import copy_bytes, top_runs
from dovetail.plan.levels import is_exact

_LAST = np.iinfo(np.int64).max
_SIGN = np.int64(-(1 << 63))


class Extreme:
    """The least or the greatest value of a column in each group."""

    def __init__(self, type_: pa.DataType, greatest: bool) -> None:
        self._type = type_
        self._greatest = greatest
        self._wide = not is_exact(type_)
        self._roots = np.full(0, -1, np.int64)
        self._nodes = {name: np.empty(0, np.int64) for name in ("left", "right", "keys", "until", "payload", "lengths")}
        self._pool = np.empty(0, np.uint8)
        self._pooled = 0
        self.size = 0

    def after(self, changes: Changes, argument: pa.Array | None, groups: int) -> pa.Array:
        """The extreme of each run's group after it; NULL if nothing in it counts."""
        assert argument is not None
        self._roots = grown(self._roots, groups, -1)
        valid = valid_rows(argument)
        coming = changes.weights > 0 if valid is None else (changes.weights > 0) & valid
        rows = np.flatnonzero(coming)
        nodes = np.full(len(coming), -1, np.int64)
        nodes[rows] = np.arange(self.size, self.size + len(rows))
        self._add(argument.take(pa.array(rows)), changes.until[rows])
        tops = np.empty(changes.runs, np.int64)
        self._sift(changes, nodes, tops)
        return self._values(tops)

    def _sift(self, changes: Changes, nodes: Integers, tops: Integers) -> None:
        top_runs(
            changes.groups,
            nodes,
            changes.moments,
            changes.starts,
            self._roots,
            self._nodes["left"],
            self._nodes["right"],
            self._nodes["keys"],
            self._nodes["until"],
            self._nodes["payload"],
            self._nodes["lengths"],
            self._pool,
            -1 if self._greatest else 1,
            tops,
        )

    def _add(self, values: pa.Array, until: Integers) -> None:
        first, last = self.size, self.size + len(values)
        keys, payload, lengths = self._pooling(values) if self._wide else _narrow(values)
        if self._greatest:
            keys = ~keys
        if pa.types.is_floating(self._type):
            keys = np.where(np.isnan(payload.view(np.float64)), _LAST, keys)
        new: dict[str, Any] = {
            "left": -1,
            "right": -1,
            "keys": keys,
            "until": until,
            "payload": payload,
            "lengths": lengths,
        }
        for name, column in new.items():
            self._nodes[name] = grown(self._nodes[name], last)
            self._nodes[name][first:last] = column
        self.size = last

    def _pooling(self, values: pa.Array) -> tuple[Integers, Integers, Integers]:
        """The bytes of the values go into the pool."""
        offsets, data = _bytes(values)
        begin, size = int(offsets[0]), int(offsets[-1] - offsets[0])
        fresh = np.concatenate([data[begin : begin + size], np.zeros(8, np.uint8)])
        self._pool = grown(self._pool, self._pooled + size)
        self._pool[self._pooled : self._pooled + size] = fresh[:size]
        starts, lengths = offsets[:-1] - begin, offsets[1:] - offsets[:-1]
        heads = fresh[starts[:, None] + np.arange(8)]
        heads = np.where(np.arange(8) < lengths[:, None], heads, 0).astype(np.uint8)
        keys = heads.view(">u8").reshape(-1).astype(np.uint64).view(np.int64) ^ _SIGN
        starts += self._pooled
        self._pooled += size
        return keys, starts, lengths

    def _values(self, tops: Integers) -> pa.Array:
        none = tops < 0
        if not len(self._nodes["payload"]):
            return pa.nulls(len(tops), self._type)
        payload = self._nodes["payload"][np.where(none, 0, tops)]
        if not self._wide:
            return _from_bits(payload, none, self._type)
        lengths = np.where(none, 0, self._nodes["lengths"][np.where(none, 0, tops)])
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        copied = np.empty(int(offsets[-1]), np.uint8)
        copy_bytes(payload, lengths, self._pool, offsets, copied)
        return _from_bytes(offsets, copied, none, self._type)


def _narrow(values: pa.Array) -> tuple[Integers, Integers, Integers]:
    """Keys in the order of the values, the bits of the values, and that equal keys are equal values."""
    lengths = np.full(len(values), -1, np.int64)
    if pa.types.is_floating(values.type):
        held = np.array(values_of(values.cast(pa.float64()))).view(np.int64)
        zero = np.array(values_of(values.cast(pa.float64()))) + 0.0  # -0.0 + 0.0 is 0.0
        plain = zero.view(np.int64)
        return plain ^ ((plain >> 63) & _LAST), held, lengths
    found = values_of(values)
    held = np.array(found if found.ndim == 1 else found[:, 0]).astype(np.int64)
    return held ^ _SIGN if found.dtype == np.uint64 else held, held, lengths


def _from_bits(payload: Integers, none: npt.NDArray[np.bool_], type_: pa.DataType) -> pa.Array:
    mask = pa.array(none)
    if pa.types.is_floating(type_):
        return _where(mask, pa.array(payload.view(np.float64)).cast(type_))
    if pa.types.is_boolean(type_):
        return _where(mask, pa.array(payload != 0))
    if pa.types.is_decimal(type_):
        words = np.stack([payload, payload >> 63], axis=1)
        return _where(mask, pa.Array.from_buffers(type_, len(payload), [None, pa.py_buffer(words)]))
    found = layout(type_)
    assert found is not None
    data = pa.py_buffer(payload.astype(found[0]))
    return _where(mask, pa.Array.from_buffers(type_, len(payload), [None, data]))


def _bytes(values: pa.Array) -> tuple[Integers, npt.NDArray[np.uint8]]:
    """Offsets and bytes whose order is that of the values."""
    if pa.types.is_decimal(values.type):
        words = np.array(values_of(values))[:, ::-1]
        words[:, 0] ^= _SIGN
        data = words.astype(">i8").reshape(-1).view(np.uint8)
        return np.arange(len(values) + 1, dtype=np.int64) * words.shape[1] * 8, data
    if pa.types.is_fixed_size_binary(values.type):
        values = values.cast(pa.binary())
    offsets, data = text_buffers(values)
    return offsets.astype(np.int64), data


def _from_bytes(offsets: Integers, data: npt.NDArray[np.uint8], none: Any, type_: pa.DataType) -> pa.Array:
    mask = pa.array(none)
    if pa.types.is_decimal(type_):
        width = type_.bit_width // 64
        words = np.zeros((len(none), width), np.int64)
        words[~none] = data.view(">i8").reshape(-1, width).astype(np.int64)
        words[~none, 0] ^= _SIGN
        back = pa.py_buffer(np.ascontiguousarray(words[:, ::-1]))
        return _where(mask, pa.Array.from_buffers(type_, len(none), [None, back]))
    large = pa.Array.from_buffers(pa.large_binary(), len(none), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    return _where(mask, large).cast(type_)


def _where(none: pa.Array, values: pa.Array) -> pa.Array:
    """The values, NULL where there are none."""
    return pc.if_else(none, pa.scalar(None, values.type), values)
