# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# A kernel's types are the machine types in its Numba signature, which Numba checks.
"""The loops of sliding aggregates over a block of changes: arrays in, arrays out.

Changes are sorted by moment, then group; run r is the changes ``starts[r] .. starts[r + 1] - 1``, all of one moment and
one group. A kernel applies the changes one after the other and writes the value that is true after each run.
"""

import numpy as np

from dovetail.engine.kernels.signature import I8, MIX
from dovetail.kernel import kernel


@kernel(f"void({I8}, {I8}, {I8}, {I8}, {I8})")
def count_runs(groups, weights, starts, totals, counted):
    """The total weight of each run's group after it."""
    for run in range(len(starts) - 1):
        group = groups[starts[run]]
        for at in range(starts[run], starts[run + 1]):
            totals[group] += weights[at]
        counted[run] = totals[group]


@kernel(f"void({I8}, {I8}, {I8}, {I8})")
def distinct_weights(pairs, weights, references, changed):
    """1 where a value comes that was not there, -1 where the last of its kind goes."""
    for at in range(len(pairs)):
        pair, weight = pairs[at], weights[at]
        if weight != 0:
            before = references[pair]
            references[pair] = before + weight
            changed[at] = (before + weight > 0) - (before > 0)


@kernel("int64(int64, int64, int64)")
def _slot(first, second, mask):
    mixed = (np.uint64(first) * MIX) ^ np.uint64(second)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * MIX
    return np.int64((mixed >> np.uint64(20)) & np.uint64(mask))


@kernel(f"int64({I8}, {I8}, {I8}, {I8}, {I8}, int64, {I8}, {I8})")
def number_pairs(first, second, known_first, known_second, table, count, numbers, fresh):
    """The number of each pair, new ones numbered from ``count`` on; ``fresh`` takes the rows that brought them."""
    mask, old = len(table) - 1, count
    for at in range(len(first)):
        slot = _slot(first[at], second[at], mask)
        while True:
            number = table[slot]
            if number < 0:
                number = count
                table[slot] = number
                known_first[number] = first[at]
                known_second[number] = second[at]
                fresh[number - old] = at
                count += 1
                break
            if known_first[number] == first[at] and known_second[number] == second[at]:
                break
            slot = (slot + 1) & mask
        numbers[at] = number
    return count


@kernel(f"void({I8}, {I8}, int64, {I8})")
def refill(known_first, known_second, count, table):
    """All pairs into an empty table."""
    mask = len(table) - 1
    for number in range(count):
        slot = _slot(known_first[number], known_second[number], mask)
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = number
