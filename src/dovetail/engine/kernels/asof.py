"""Chains of an as-of stream: the rows of a key in order of time, the newest first, with shortcuts.

``before`` leads from a row to the one before it of the same key. ``shortcut`` leads further back: the deeper a row
stands in its chain the longer its shortcut may be, so that any time is found in a number of steps that grows with the
logarithm of the chain (skew-binary jump pointers):

    depth      1    2    3    4    5    6    7
    shortcut   1    1    1    3    3    3... each either to the row before, or over two equal shortcuts at once
"""

import numpy as np

from dovetail.engine.kernels.chains import bucket_of
from dovetail.engine.kernels.signature import I8, READ
from dovetail.kernel import kernel, part

I4 = "int32[::1]"
_CHAINS = f"{I8}, {I4}, {I4}, {I4}, {I4}"


@kernel(f"int64({READ}, {I4}, int64, {I8}, int64, boolean, {I4})")
def find_slots(codes, table, shift, known, count, adds, slots):
    """The slot of each code, -1 if it has none; with ``adds`` new codes get the next ones. How many there are then."""
    mask = len(table) - 1
    for i in range(len(codes)):
        code = codes[i]
        place = bucket_of(code, shift)
        while True:
            slot = table[place]
            if slot < 0:
                if adds:
                    slot = np.int32(count)
                    table[place], known[slot] = slot, code
                    count += 1
                break
            if known[slot] == code:
                break
            place = (place + 1) & mask
        slots[i] = slot
    return count


@part(inline="always")
def _insert(row, slot, heads, before, shortcut, depth):
    head = heads[slot]
    before[row] = head
    if head < 0:
        depth[row], shortcut[row] = 1, row
    else:
        depth[row] = depth[head] + 1
        far = shortcut[head]
        farther = shortcut[far]
        equal = depth[head] - depth[far] == depth[far] - depth[farther]
        shortcut[row] = farther if equal else head
    heads[slot] = row


@part(inline="always")
def _last_until(row, time, times, before, shortcut):
    """The first row from ``row`` on back that is not after ``time``; -1 if there is none."""
    while row >= 0 and times[row] > time:
        far = shortcut[row]
        row = far if times[far] > time and far != row else before[row]
    return row


@part(inline="always")
def _first_from(row, time, times, before, shortcut):
    """The last row from ``row`` on back that is not before ``time``; -1 if there is none."""
    if row < 0 or times[row] < time:
        return np.int32(-1)
    while True:
        far = shortcut[row]
        if far != row and times[far] >= time:
            row = far
        elif before[row] >= 0 and times[before[row]] >= time:
            row = before[row]
        else:
            return row


@kernel(f"void({I4}, int64, int64, {I4}, {I4}, {I4}, {I4})")
def chain_rows(slots, first, last, heads, before, shortcut, depth):
    """Put the rows first..last-1, which are in order of time, before the older ones of their chains."""
    for row in range(first, last):
        _insert(row, slots[row], heads, before, shortcut, depth)


@kernel(f"void({I4}, {I8}, {I4}, int64, int64, {_CHAINS}, {I8})")
def answer_backward(asked, until, slots, first, last, times, heads, before, shortcut, depth, found):
    """The last row of each asked slot that is not after ``until``, while the rows first..last-1 are put into chains.

    Both come in order of time, so that the answer is nearly always the newest row of its chain at that moment.
    """
    row = first
    for i in range(len(asked)):
        while row < last and times[row] <= until[i]:
            _insert(row, slots[row], heads, before, shortcut, depth)
            row += 1
        found[i] = _last_until(heads[asked[i]], until[i], times, before, shortcut) if asked[i] >= 0 else -1
    while row < last:
        _insert(row, slots[row], heads, before, shortcut, depth)
        row += 1


@kernel(f"void({I4}, {I8}, {_CHAINS}, {I8})")
def find_backward(asked, until, times, heads, before, shortcut, depth, found):
    """The last row of each asked slot that is not after ``until``."""
    for i in range(len(asked)):
        found[i] = _last_until(heads[asked[i]], until[i], times, before, shortcut) if asked[i] >= 0 else -1


@kernel(f"void({I4}, {I8}, {_CHAINS}, {I8})")
def find_forward(asked, since, times, heads, before, shortcut, depth, found):
    """The first row of each asked slot that is not before ``since``; of those of its time, the last in the chain."""
    for i in range(len(asked)):
        found[i] = -1
        if asked[i] >= 0:
            head = heads[asked[i]]
            first = _first_from(head, since[i], times, before, shortcut)
            if first >= 0:
                found[i] = _last_until(head, times[first], times, before, shortcut)


@kernel(f"UniTuple(int64, 3)({I4}, {I8}, {I8}, {_CHAINS}, int64, int64, {I8}, {I8})")
def find_between(asked, since, until, times, heads, before, shortcut, depth, at, resume, parents, found):
    """All rows of each asked slot from ``since`` to ``until``, the newest first; where it stopped if there are many."""
    n = 0
    while at < len(asked):
        row = np.int32(-1)
        if resume >= 0:
            row, resume = np.int32(resume), np.int64(-1)
        elif asked[at] >= 0:
            row = _last_until(heads[asked[at]], until[at], times, before, shortcut)
        while row >= 0 and times[row] >= since[at]:
            if n == len(found):
                return n, at, np.int64(row)
            parents[n], found[n] = at, row
            n += 1
            row = before[row]
        at += 1
    return n, at, np.int64(-1)


@kernel(f"UniTuple(int64, 2)({I8}, {I4}, int64, int64, int64, boolean[::1])")
def give_way(times, before, first, last, until, gone):
    """Rows whose successor in the chain is not after ``until`` are gone; where to go on from, and how many they are."""
    row, total = first, 0
    while row < last and times[row] <= until:
        old = before[row]
        if old >= 0 and not gone[old]:
            gone[old] = True
            total += 1
        row += 1
    return row, total


@kernel(f"int64({READ}, {I4}, boolean[::1])")
def mark_tied(times, slots, tied):
    """Mark the rows, in order of time, that share their time with another of the same slot; how many."""
    total = 0
    start = 0
    while start < len(times):
        stop = start + 1
        while stop < len(times) and times[stop] == times[start]:
            stop += 1
        if stop - start > 1:
            order = np.argsort(slots[start:stop])
            for i in range(1, stop - start):
                if slots[start + order[i]] == slots[start + order[i - 1]]:
                    for place in (start + order[i], start + order[i - 1]):
                        if not tied[place]:
                            tied[place] = True
                            total += 1
        start = stop
    return total
