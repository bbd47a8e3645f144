"""The loops that numbers pass through: arrays in, arrays out, compiled once and cached on disk.

Every probing kernel has the same shape. It extends partial results ``p, p+1, ...``: for each it
finds tuples of one window whose value fits and whose time lies in ``[lows[p], highs[p]]``, and
writes (parent, tuple id) pairs. When the output is full it returns where it stands and is called
again from there, so that an exploding join needs bounded memory.

A tuple's id counts arrivals of its stream; the window's arrays start at id ``base`` and tuples
before ``tail`` have expired. ``slack`` says how far a tuple's time may lie behind that of an
earlier arrival (0 for input in order): walking back in arrival order may stop once
``time + slack < low``.
"""

import sys

import numpy as np
from numba import njit

_I8, _F8 = "int64[::1]", "float64[::1]"
_READ = "Array(int64, 1, 'C', readonly=True)"  # Arrow's memory may be read, not written
_WHERE = "UniTuple(int64, 3)"

HAS_LOW, HAS_HIGH, LOW_STRICT, HIGH_STRICT, WINDOW_IS_LEFT, PLAIN = 1, 2, 4, 8, 16, 32
EXACT = 64  # the ranges of values say it all: integers, whose differences might not fit

STRETCH = 256

_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit("int64(int64, int64)", cache=True, nogil=True, inline="always")
def bucket_of(code, shift):
    return np.int64((np.uint64(code) * _MIX) >> np.uint64(shift))


if not bucket_of.stats.cache_hits:
    sys.stderr.write("dovetail: compiling its kernels for this machine, once; this takes about ten seconds\n")


@njit(f"void({_I8}, {_I8}, int32[::1], int64, int64, int64, int64)", cache=True, nogil=True)
def hash_insert(codes, heads, nexts, shift, base, first, last):
    """Chain the tuples with ids first..last-1, each before the older ones of its bucket."""
    for tuple_id in range(first, last):
        slot = tuple_id - base
        bucket = bucket_of(codes[slot], shift)
        gap = tuple_id - heads[bucket]
        # a gap too large for the link leads to a tuple that expired long ago
        nexts[slot] = gap if 0 < gap < 2147483647 else 0
        heads[bucket] = tuple_id


@njit(
    f"{_WHERE}({_I8}, {_I8}, {_I8}, {_I8}, {_I8}, int32[::1], {_I8}, "
    f"int64, int64, int64, int64, int64, int64, {_I8}, {_I8})",
    cache=True,
    nogil=True,
)
def hash_probe(
    codes, lows, highs, window_codes, times, nexts, heads, shift, base, tail, slack, p, resume, parents, found
):
    """Walk the chain of each code newest first, down to the lower end of its time range."""
    n, limit = 0, len(found)
    while p < len(codes):
        code, low, high = codes[p], lows[p], highs[p]
        tuple_id = heads[bucket_of(code, shift)] if resume < 0 else resume
        resume = -1
        while tuple_id >= tail:
            slot = tuple_id - base
            time = times[slot]
            if time + slack < low:
                break
            if window_codes[slot] == code and low <= time <= high:
                if n == limit:
                    return n, p, tuple_id
                parents[n] = p
                found[n] = tuple_id
                n += 1
            gap = nexts[slot]
            if gap == 0:
                break
            tuple_id -= gap
        p += 1
    return n, p, np.int64(-1)


@njit(
    f"void({_I8}, {_I8}, int32[::1], int64, int64, int64, int64, int64, {_I8}, {_I8}, {_I8}, {_I8})",
    cache=True,
    nogil=True,
)
def push_out(codes, times, nexts, base, tail, first, last, count, leaves, oldest, follower, position):
    """Row windows per key: link each new tuple to its predecessor and note whom it pushes out.

    ``oldest[i]`` is the oldest tuple inside once i is the newest of its key, ``follower`` the next of the
    same key, ``position`` how many are inside. The chains of the index already hold the new tuples.
    """
    for tuple_id in range(first, last):
        slot = tuple_id - base
        before, gap = tuple_id, nexts[slot]
        found = False
        while gap != 0:
            before -= gap
            if before < tail:
                break
            if codes[before - base] == codes[slot]:
                found = True
                break
            gap = nexts[before - base]
        oldest[slot], position[slot] = tuple_id, 1
        if found:
            previous = before - base
            follower[previous] = tuple_id
            start = oldest[previous]
            if position[previous] < count:
                oldest[slot], position[slot] = start, position[previous] + 1
            else:
                leaves[start - base] = times[slot]
                oldest[slot] = follower[start - base]
                position[slot] = count


@njit(f"int64({_I8}, int64, int64, int64)", cache=True, nogil=True)
def first_at_least(values, start, stop, value):
    """The first position in sorted ``values[start:stop]`` that is not below ``value``."""
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(
    f"{_WHERE}({_I8}, {_I8}, {_I8}, {_I8}, {_I8}, {_I8}, int64, int64, int64, int64, int64, int64, {_I8}, {_I8})",
    cache=True,
    nogil=True,
)
def scan_equal(codes, lows, highs, window_codes, times, clock, base, tail, end, slack, p, resume, parents, found):
    """Compare each code with every tuple in its time range: a dense count per stretch, then the few that match."""
    n, limit = 0, len(found)
    while p < len(codes):
        code, low, high = codes[p], lows[p], highs[p]
        slot = first_at_least(clock, tail - base, end - base, low) if resume < 0 else resume
        stop = first_at_least(clock, slot, end - base, high + slack + 1)
        resume = -1
        while slot < stop:
            piece = min(stop, slot + min(STRETCH, limit))
            matches = 0
            for at in range(slot, piece):
                matches += window_codes[at] == code
            if matches > limit - n:
                return n, p, slot
            if matches:
                for at in range(slot, piece):
                    if window_codes[at] == code and low <= times[at] <= high:
                        parents[n] = p
                        found[n] = at + base
                        n += 1
            slot = piece
        p += 1
    return n, p, np.int64(-1)


@njit(
    f"{_WHERE}({_I8}, {_I8}, {_I8}, {_I8}, int64, int64, int64, int64, int64, int64, {_I8}, {_I8})",
    cache=True,
    nogil=True,
)
def scan_all(lows, highs, times, clock, base, tail, end, slack, p, resume, parents, found):
    """Every tuple in the time range is a candidate."""
    n, limit = 0, len(found)
    while p < len(lows):
        low, high = lows[p], highs[p]
        slot = first_at_least(clock, tail - base, end - base, low) if resume < 0 else resume
        stop = first_at_least(clock, slot, end - base, high + slack + 1)
        resume = -1
        while slot < stop:
            piece = min(stop, slot + limit - n)
            if piece == slot:
                return n, p, slot
            for at in range(slot, piece):
                if low <= times[at] <= high:
                    parents[n] = p
                    found[n] = at + base
                    n += 1
            slot = piece
        p += 1
    return n, p, np.int64(-1)


@njit(["boolean(int64, int64, int64, int64, int64)", "boolean(float64, float64, float64, float64, int64)"], cache=True)
def in_band(window_value, value, low, high, flags):
    """Whether ``low <= left - right <= high``; a plain comparison is made without subtracting."""
    left, right = (window_value, value) if flags & WINDOW_IS_LEFT else (value, window_value)
    if flags & PLAIN:
        if flags & HAS_LOW:
            return left > right if flags & LOW_STRICT else left >= right
        return left < right if flags & HIGH_STRICT else left <= right
    gap = left - right  # NaN for two equal infinities, and then in no band
    if flags & HAS_LOW and not (gap > low if flags & LOW_STRICT else gap >= low):
        return False
    return not (flags & HAS_HIGH) or (gap < high if flags & HIGH_STRICT else gap <= high)


def _band_signature(number, values):
    return (
        f"{_WHERE}({values}, {values}, {values}, {_I8}, {_I8}, {number}, {number}, int64, {values}, {_I8}, {_I8}, "
        f"int64, int64, int64, int64, int64, int64, {_I8}, {_I8})"
    )


@njit([_band_signature("int64", _I8), _band_signature("float64", _F8)], cache=True, nogil=True)
def scan_band(
    values, firsts, lasts, lows, highs, low, high, flags, window_values, times, clock, base, tail, end, slack,
    p, resume, parents, found,
):  # fmt: skip
    """Compare each value with every tuple in its time range: a dense count per stretch, then the few that match."""
    n, limit = 0, len(found)
    while p < len(values):
        value, since, until = values[p], lows[p], highs[p]
        first, last = firsts[p], lasts[p]
        slot = first_at_least(clock, tail - base, end - base, since) if resume < 0 else resume
        stop = first_at_least(clock, slot, end - base, until + slack + 1)
        resume = -1
        while slot < stop:
            piece = min(stop, slot + min(STRETCH, limit))
            matches = 0
            for at in range(slot, piece):
                matches += (window_values[at] >= first) & (window_values[at] <= last)
            if matches > limit - n:
                return n, p, slot
            if matches:
                for at in range(slot, piece):
                    inside = first <= window_values[at] <= last and since <= times[at] <= until
                    if inside and (flags & EXACT or in_band(window_values[at], value, low, high, flags)):
                        parents[n] = p
                        found[n] = at + base
                        n += 1
            slot = piece
        p += 1
    return n, p, np.int64(-1)


def _sorted_signature(number, values):
    return (
        f"UniTuple(int64, 4)({values}, {values}, {values}, {_I8}, {_I8}, {number}, {number}, int64, {values}, {_I8}, "
        f"{_I8}, {_I8}, int64, int64, int64, int64, int64, {_I8}, {_I8})"
    )


@njit([_sorted_signature("int64", _I8), _sorted_signature("float64", _F8)], cache=True, nogil=True)
def sorted_probe(
    values, firsts, lasts, lows, highs, low, high, flags, ranked, ids, runs, times, base, tail,
    p, run, at, parents, found,
):  # fmt: skip
    """In each sorted run: the first candidate by binary search, then on to the last; each is checked exactly."""
    n, limit = 0, len(found)
    while p < len(values):
        value, since, until = values[p], lows[p], highs[p]
        first, last = firsts[p], lasts[p]
        while run < len(runs) - 1:
            stop = runs[run + 1]
            if at < 0:
                at, end = runs[run], stop
                while at < end:
                    middle = (at + end) // 2
                    if ranked[middle] < first:
                        at = middle + 1
                    else:
                        end = middle
            while at < stop and ranked[at] <= last:
                if ids[at] >= tail:
                    time = times[ids[at] - base]
                    if since <= time <= until and (flags & EXACT or in_band(ranked[at], value, low, high, flags)):
                        if n == limit:
                            return n, p, run, at
                        parents[n] = p
                        found[n] = ids[at]
                        n += 1
                at += 1
            at = -1
            run += 1
        run = 0
        p += 1
    return n, p, np.int64(0), np.int64(-1)


def _merge_signature(values):
    return f"void({values}, {_I8}, int64, int64, int64, {values}, {_I8})"


@njit([_merge_signature(_I8), _merge_signature(_F8)], cache=True, nogil=True)
def merge_runs(ranked, ids, first, middle, last, ranked_out, ids_out):
    """Merge two adjacent sorted runs; equal values stay in order of arrival."""
    left, right = first, middle
    for at in range(last - first):
        if right >= last or (left < middle and ranked[left] <= ranked[right]):
            ranked_out[at], ids_out[at] = ranked[left], ids[left]
            left += 1
        else:
            ranked_out[at], ids_out[at] = ranked[right], ids[right]
            right += 1


@njit(f"UniTuple(int64, 3)({_READ})", cache=True, nogil=True)
def inspect_times(times):
    """Smallest, largest, and how far the worst tuple lies behind an earlier one."""
    smallest = largest = times[0]
    behind = np.int64(0)
    for time in times:
        smallest = min(smallest, time)
        behind = max(behind, largest - time)
        largest = max(largest, time)
    return smallest, largest, behind


@njit(f"void({_I8}, int64, int64, {_I8}, int64)", cache=True, nogil=True)
def running_largest(times, start, stop, clock, so_far):
    """``clock[i]`` = the largest time up to and including arrival i."""
    for at in range(start, stop):
        so_far = max(so_far, times[at])
        clock[at] = so_far


@njit(f"{_I8}({_READ}, {_READ})", cache=True, nogil=True)
def combine_codes(codes, more):
    """One code for two parts of a key."""
    out = np.empty(len(codes), np.int64)
    for at in range(len(codes)):
        mixed = (np.uint64(codes[at]) ^ (np.uint64(codes[at]) >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed + np.uint64(more[at])) * _MIX
        out[at] = np.int64(mixed ^ (mixed >> np.uint64(32)))
    return out


@njit(f"{_I8}({_READ}, int64)", cache=True, nogil=True)
def spread(codes, size):
    """Each code as a number from 0 to size - 1, the same in every process (the finalizer of SplitMix64)."""
    out = np.empty(len(codes), np.int64)
    for at in range(len(codes)):
        word = np.uint64(codes[at])
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[at] = np.int64((word ^ (word >> np.uint64(31))) % np.uint64(size))
    return out


@njit(
    [
        "int64[::1](Array(int32, 1, 'C', readonly=True), Array(uint8, 1, 'C', readonly=True))",
        "int64[::1](Array(int64, 1, 'C', readonly=True), Array(uint8, 1, 'C', readonly=True))",
    ],
    cache=True,
    nogil=True,
)
def hash_bytes(offsets, data):
    """A 64-bit code per string of an Arrow array."""
    out = np.empty(len(offsets) - 1, np.int64)
    for at in range(len(out)):
        code = np.uint64(0xCBF29CE484222325)
        for byte in data[offsets[at] : offsets[at + 1]]:
            code = (code ^ np.uint64(byte)) * np.uint64(0x100000001B3)
        code = (code ^ (code >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        out[at] = np.int64(code ^ (code >> np.uint64(32)))
    return out


@njit(f"int64({_I8}, {_I8}, {_I8})", cache=True, nogil=True)
def gather_offsets(offsets, slots, out):
    """Offsets of the strings at ``slots`` once they lie side by side; returns their total size."""
    total = np.int64(0)
    out[0] = 0
    for at in range(len(slots)):
        total += offsets[slots[at] + 1] - offsets[slots[at]]
        out[at + 1] = total
    return total


@njit(f"void({_I8}, uint8[::1], {_I8}, int64, {_I8}, uint8[::1])", cache=True, nogil=True)
def gather_bytes(offsets, data, slots, origin, out_offsets, out):
    """Copy the strings at ``slots`` side by side."""
    for at in range(len(slots)):
        start = offsets[slots[at]] - origin
        to = out_offsets[at]
        for byte in range(out_offsets[at + 1] - to):
            out[to + byte] = data[start + byte]


@njit(f"{_F8}(float64[:, ::1], {_I8}, float64[:, ::1], {_I8})", cache=True, nogil=True)
def pair_products(left, left_rows, right, right_rows):
    """Inner products of row pairs, summed first to last, so that they never depend on batching."""
    out = np.empty(len(left_rows))
    for at in range(len(left_rows)):
        a, b = left[left_rows[at]], right[right_rows[at]]
        total = 0.0
        for k in range(len(a)):
            total += a[k] * b[k]
        out[at] = total
    return out
