"""The values of Arrow arrays as NumPy arrays, without copying where the layout allows it."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Flags = npt.NDArray[np.bool_]

_PLAIN = {
    type_.id: np.dtype(name)
    for name, types in {
        "i1": [pa.int8()],
        "i2": [pa.int16()],
        "i4": [pa.int32(), pa.date32(), pa.time32("s")],
        "i8": [pa.int64(), pa.date64(), pa.time64("us"), pa.timestamp("us"), pa.duration("us")],
        "u1": [pa.uint8()],
        "u2": [pa.uint16()],
        "u4": [pa.uint32()],
        "u8": [pa.uint64()],
        "f2": [pa.float16()],
        "f4": [pa.float32()],
        "f8": [pa.float64()],
    }.items()
    for type_ in types
}


def layout(type_: pa.DataType) -> tuple[np.dtype, int] | None:
    """NumPy item type and items per value of a fixed-width Arrow type; None if it has no such form."""
    plain = _PLAIN.get(type_.id)
    if plain is not None:
        return plain, 1
    if pa.types.is_boolean(type_):
        return np.dtype(np.uint8), 1
    if pa.types.is_decimal128(type_) or pa.types.is_decimal256(type_):
        return np.dtype(np.int64), type_.bit_width // 64
    if pa.types.is_fixed_size_binary(type_):
        return np.dtype(np.uint8), type_.byte_width
    return None


def values_of(array: pa.Array) -> npt.NDArray[Any]:
    """The values of a fixed-width Arrow array as NumPy, without copying where possible."""
    found = layout(array.type)
    assert found is not None, f"{array.type} has no fixed width"
    return bare_values(array, pa.types.is_boolean(array.type), *found)


def bare_values(array: pa.Array, boolean: bool, dtype: np.dtype, width: int) -> npt.NDArray[Any]:
    """The same for whoever knows the layout."""
    if boolean:
        return bits(array.buffers()[1], array.offset, len(array))
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        data = np.empty(0, dtype)
    else:
        data = np.frombuffer(buffer, dtype, len(array) * width, array.offset * width * dtype.itemsize)
    return data if width == 1 else data.reshape(len(array), width)


def bits(buffer: pa.Buffer, offset: int, length: int) -> npt.NDArray[np.uint8]:
    """An Arrow bitmap as one byte per value."""
    packed = np.frombuffer(buffer, np.uint8)
    return np.unpackbits(packed, count=offset + length, bitorder="little")[offset:]


def bitmap(flags: npt.NDArray[np.uint8] | None) -> pa.Buffer | None:
    """One byte per value back to an Arrow bitmap."""
    return None if flags is None else pa.py_buffer(np.packbits(flags, bitorder="little"))


def is_large_text(type_: pa.DataType) -> bool:
    """Whether offsets of such a column take 64 bits."""
    return bool(pa.types.is_large_string(type_) or pa.types.is_large_binary(type_))


def text_buffers(array: pa.Array) -> tuple[npt.NDArray[np.signedinteger], npt.NDArray[np.uint8]]:
    """Offsets (into the second) and bytes of an Arrow string or binary array, without copying."""
    _, offsets, data = array.buffers()
    dtype = np.dtype(np.int64 if is_large_text(array.type) else np.int32)
    if offsets is None or len(array) == 0:
        return np.zeros(1, dtype), np.empty(0, np.uint8)
    positions = np.frombuffer(offsets, dtype, len(array) + 1, array.offset * dtype.itemsize)
    return positions, np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def true_rows(flags: pa.Array) -> Flags:
    """A boolean Arrow array as NumPy, NULL counting as false."""
    valid, data = flags.buffers()
    true = bits(data, flags.offset, len(flags)) if len(flags) else np.empty(0, np.uint8)
    if flags.null_count:
        true = true & bits(valid, flags.offset, len(flags))
    return true.view(np.bool_)
