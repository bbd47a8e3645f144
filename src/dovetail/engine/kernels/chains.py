"""Hash chains: a bucket's newest tuple first, each with how many arrivals back the next one is."""

import numpy as np

from dovetail.engine.kernels.signature import I8, MIX, WHERE
from dovetail.kernel import interpretable, part

AHEAD = 256  # looks whose first memory accesses overlap; all of them stay in the first cache


@part(inline="always")
def bucket_of(code, shift):
    return np.int64((np.uint64(np.int64(code)) * MIX) >> np.uint64(shift))


@part(inline="always")
def link(heads, nexts, bucket, slot, tuple_id):
    """A tuple before the older ones of its bucket."""
    gap = tuple_id - heads[bucket]
    # a gap too large for the link leads to a tuple that expired long ago
    nexts[slot] = gap if 0 < gap < 2147483647 else 0
    heads[bucket] = tuple_id


@interpretable(f"void({I8}, {I8}, int32[::1], int64, int64, int64, int64)")
def hash_insert(codes, heads, nexts, shift, base, first, last):
    """Chain the tuples with ids first..last-1, each before the older ones of its bucket."""
    for tuple_id in range(first, last):
        slot = tuple_id - base
        link(heads, nexts, bucket_of(codes[slot], shift), slot, tuple_id)


@part(inline="always")
def read_ahead(
    bound_codes, bound, bound_base, heads, shift, window_codes, times, nexts, base, tail, ids, codes, whens, gaps
):
    """The first tuple of each code's chain and what stands there; of an expired one, some tuple's instead.

    The second ones are only looked at, so that they are at hand when the walk comes to them.
    """
    for i in range(len(bound)):
        ids[i] = heads[bucket_of(bound_codes[bound[i] - bound_base], shift)]
    for i in range(len(bound)):
        slot = max(ids[i], tail) - base
        codes[i], whens[i], gaps[i] = window_codes[slot], times[slot], nexts[slot]
    touched = np.int64(0)
    for i in range(len(bound)):
        # the link of a tuple that is not in a chain yet may be any number
        slot = max(ids[i] - max(gaps[i], 0), tail) - base
        touched += window_codes[slot] + times[slot] + nexts[slot]
    ids[len(bound)] = touched  # written down, or the compiler would leave the reading out


@interpretable(
    f"{WHERE}({I8}, {I8}, int64, {I8}, int64, {I8}, {I8}, {I8}, int32[::1], {I8}, "
    f"int64, int64, int64, int64, int64, int64, {I8}, {I8})",
)
def hash_probe(
    bound_codes, bound, bound_base, newest, width, highs, window_codes, times, nexts, heads, shift, base, tail, slack,
    p, resume, parents, found,
):  # fmt: skip
    """Walk the chain of each code newest first, down to the lower end of its time range.

    Some probes ahead, the first tuple of each chain is read for all of them: their memory is waited for together.
    """
    n, limit = 0, len(found)
    if tail - base >= len(times):
        return n, len(bound), np.int64(-1)
    first_ids, first_codes = np.empty(AHEAD + 1, np.int64), np.empty(AHEAD, np.int64)
    first_times, first_gaps = np.empty(AHEAD, np.int64), np.empty(AHEAD, np.int64)
    while p < len(bound):
        ahead = min(AHEAD, len(bound) - p)
        read_ahead(
            bound_codes, bound[p : p + ahead], bound_base, heads, shift, window_codes, times, nexts, base, tail,
            first_ids, first_codes, first_times, first_gaps,
        )  # fmt: skip
        for i in range(ahead):
            code, low, high = bound_codes[bound[p + i] - bound_base], newest[p + i] - width, highs[p + i]
            tuple_id, here, time, gap = first_ids[i], first_codes[i], first_times[i], first_gaps[i]
            if resume >= 0:
                tuple_id, slot, resume = resume, resume - base, np.int64(-1)
                here, time, gap = window_codes[slot], times[slot], np.int64(nexts[slot])
            while tuple_id >= tail and time + slack >= low:
                if here == code and low <= time <= high:
                    if n == limit:
                        return n, p + i, tuple_id
                    parents[n] = p + i
                    found[n] = tuple_id
                    n += 1
                if gap == 0:
                    break
                tuple_id -= gap
                if tuple_id >= tail:
                    slot = tuple_id - base
                    here, time, gap = window_codes[slot], times[slot], np.int64(nexts[slot])
        p += ahead
    return n, p, np.int64(-1)


@interpretable(
    f"{WHERE}({I8}, {I8}, int64, {I8}, {I8}, {I8}, {I8}, {I8}, boolean[::1], int32[::1], {I8}, "
    f"int64, int64, int64, int64, int64, {I8}, {I8})",
)
def last_rows_probe(
    bound_codes, bound, bound_base, newest, highs, window_codes, times, leaves, eligible, nexts, heads, shift, base,
    tail, p, resume, parents, found,
):  # fmt: skip
    """Walk the chain of each code newest first, down to the first tuple that was pushed out by the time of the probe.

    Codes are what the row window counts by, so everything behind that tuple was pushed out before it. Those that can
    not match are passed over: a NULL may stand there with the code of a value, and is counted elsewhere.
    """
    n, limit = 0, len(found)
    while p < len(bound):
        code, now, high = bound_codes[bound[p] - bound_base], newest[p], highs[p]
        tuple_id = heads[bucket_of(code, shift)] if resume < 0 else resume
        resume = np.int64(-1)
        while tuple_id >= tail:
            slot = tuple_id - base
            if window_codes[slot] == code and eligible[slot]:
                if times[slot] <= now and leaves[slot] <= now:
                    break
                if times[slot] <= high:
                    if n == limit:
                        return n, p, tuple_id
                    parents[n], found[n] = p, tuple_id
                    n += 1
            if nexts[slot] == 0:
                break
            tuple_id -= nexts[slot]
        p += 1
    return n, p, np.int64(-1)


@interpretable(
    f"void({I8}, {I8}, int32[::1], int64, int64, int64, int64, int64, {I8}, {I8}, {I8}, {I8})",
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
