"""64-bit codes of keys, and text gathered from anywhere."""

import numpy as np

from dovetail.engine.kernels.signature import I8, MIX, READ, READ_I4
from dovetail.kernel import interpretable, kernel, part


@interpretable(f"{I8}({READ}, {READ})")
def combine_codes(codes, more):
    """One code for two parts of a key."""
    out = np.empty(len(codes), np.int64)
    for at in range(len(codes)):
        mixed = (np.uint64(codes[at]) ^ (np.uint64(codes[at]) >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed + np.uint64(more[at])) * MIX
        out[at] = np.int64(mixed ^ (mixed >> np.uint64(32)))
    return out


@kernel(f"{I8}({READ}, int64)")
def spread(codes, size):
    """Each code as a number from 0 to size - 1, the same in every process (the finalizer of SplitMix64)."""
    out = np.empty(len(codes), np.int64)
    for at in range(len(codes)):
        word = np.uint64(codes[at])
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[at] = np.int64((word ^ (word >> np.uint64(31))) % np.uint64(size))
    return out


@kernel(f"UniTuple({I8}, 2)({I8}, int64)")
def by_number(numbers, size):
    """Places in order of number, equal ones in order of place; and where each number's begin, and the last end."""
    ends = np.zeros(size + 1, np.int64)
    for number in numbers:
        ends[number + 1] += 1
    for number in range(size):
        ends[number + 1] += ends[number]
    out, following = np.empty(len(numbers), np.int64), ends.copy()
    for at in range(len(numbers)):
        out[following[numbers[at]]] = at
        following[numbers[at]] += 1
    return out, ends


@part(inline="always")
def _with_byte(code, byte):
    return (code ^ np.uint64(byte)) * np.uint64(0x100000001B3)


@part(inline="always")
def _finished(code, data, start, stop):
    """The code of a string of which the bytes before ``start`` are in it already."""
    for at in range(start, stop):
        code = _with_byte(code, data[at])
    code = (code ^ (code >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64(code ^ (code >> np.uint64(32)))


@interpretable(
    int32=f"{I8}({READ_I4}, Array(uint8, 1, 'C', readonly=True))",
    int64=f"{I8}({READ}, Array(uint8, 1, 'C', readonly=True))",
)
def hash_bytes(offsets, data):
    """A 64-bit code per string of an Arrow array.

    A byte waits for the multiplication of the one before it, so four strings go side by side as far as all reach.
    """
    out = np.empty(len(offsets) - 1, np.int64)
    begin = np.uint64(0xCBF29CE484222325)
    for at in range(0, len(out) - 3, 4):
        a, b, c, d = (
            np.uint64(offsets[at]),
            np.uint64(offsets[at + 1]),
            np.uint64(offsets[at + 2]),
            np.uint64(offsets[at + 3]),
        )
        end = np.uint64(offsets[at + 4])
        w = x = y = z = begin
        together = min(b - a, c - b, d - c, end - d)
        for byte in range(together):
            w, x = _with_byte(w, data[a + byte]), _with_byte(x, data[b + byte])
            y, z = _with_byte(y, data[c + byte]), _with_byte(z, data[d + byte])
        out[at], out[at + 1] = _finished(w, data, a + together, b), _finished(x, data, b + together, c)
        out[at + 2], out[at + 3] = _finished(y, data, c + together, d), _finished(z, data, d + together, end)
    for at in range(len(out) // 4 * 4, len(out)):
        out[at] = _finished(begin, data, np.uint64(offsets[at]), np.uint64(offsets[at + 1]))
    return out


@interpretable(int32=f"int64({READ_I4}, int64, {I8}, int64)", int64=f"int64({READ}, int64, {I8}, int64)")
def append_offsets(offsets, first, out, at):
    """Offsets of an Arrow array's strings once they lie from ``first`` on, behind ``out[at]``; the longest's size."""
    longest, shift = np.int64(0), first - offsets[0]
    for place in range(len(offsets) - 1):
        out[at + 1 + place] = offsets[place + 1] + shift
        longest = max(longest, np.int64(offsets[place + 1] - offsets[place]))
    return longest


@interpretable(f"int64({I8}, {I8}, {I8})")
def gather_offsets(offsets, slots, out):
    """Offsets of the strings at ``slots`` once they lie side by side; returns their total size."""
    total = np.int64(0)
    out[0] = 0
    for at in range(len(slots)):
        total += offsets[slots[at] + 1] - offsets[slots[at]]
        out[at + 1] = total
    return total


@interpretable(f"void({I8}, uint8[::1], {I8}, int64, {I8}, uint8[::1])")
def gather_bytes(offsets, data, slots, origin, out_offsets, out):
    """Copy the strings at ``slots`` side by side.

    Unsigned places need no look whether they count from the end, so that many bytes are copied at once.
    """
    for at in range(len(slots)):
        start, to = np.uint64(offsets[slots[at]] - origin), np.uint64(out_offsets[at])
        for byte in range(np.uint64(out_offsets[at + 1] - out_offsets[at])):
            out[to + byte] = data[start + byte]
