# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# A kernel's types are the machine types in its Numba signature, which Numba checks.
"""A heap per group in common arrays: the least key on top, whatever has gone removed when it gets there.

Skew heaps: two heaps are merged by walking down their right sides, the smaller root first, swapping children on the
way; pushing merges with a heap of one, popping merges the children. Both cost the logarithm of the size on average.

    keys      64 bits in the order of the values; of texts the first 8 bytes
    until     the last moment at which the value counts
    payload   the value itself, or where its bytes start in the pool
    lengths   how many bytes, or -1: equal keys are equal values
"""

from dovetail.engine.kernels.signature import I8
from dovetail.kernel import kernel

_U1 = "uint8[::1]"


@kernel(f"boolean(int64, int64, {I8}, {I8}, {I8}, {_U1}, int64)")
def _before(one, other, keys, payload, lengths, pool, direction):
    if keys[one] != keys[other]:
        return keys[one] < keys[other]
    if lengths[one] < 0:
        return False
    start, start_other = payload[one], payload[other]
    for at in range(min(lengths[one], lengths[other])):
        a, b = pool[start + at], pool[start_other + at]
        if a != b:
            return (a < b) == (direction > 0)
    return (lengths[one] < lengths[other]) if direction > 0 else (lengths[one] > lengths[other])


@kernel(f"int64(int64, int64, {I8}, {I8}, {I8}, {I8}, {I8}, {_U1}, int64)")
def _merged(one, other, left, right, keys, payload, lengths, pool, direction):
    if one < 0 or other < 0:
        return max(one, other)
    if _before(other, one, keys, payload, lengths, pool, direction):
        one, other = other, one
    root = one
    while True:
        below = right[one]
        right[one] = left[one]
        if below < 0:
            left[one] = other
            return root
        if _before(other, below, keys, payload, lengths, pool, direction):
            below, other = other, below
        left[one] = below
        one = below


@kernel(
    f"void({I8}, {I8}, {I8}, {I8}, {I8}, {I8}, {I8}, {I8}, {I8}, {I8}, {I8}, {_U1}, int64, {I8})",
)
def top_runs(groups, nodes, moments, starts, roots, left, right, keys, until, payload, lengths, pool, direction, tops):
    """Push the node that a change brings (-1: none), take off the top what has gone; the top after each run, or -1."""
    for run in range(len(starts) - 1):
        group = groups[starts[run]]
        root = roots[group]
        for at in range(starts[run], starts[run + 1]):
            if nodes[at] >= 0:
                root = _merged(root, nodes[at], left, right, keys, payload, lengths, pool, direction)
        while root >= 0 and until[root] < moments[starts[run]]:
            root = _merged(left[root], right[root], left, right, keys, payload, lengths, pool, direction)
        roots[group] = root
        tops[run] = root


@kernel(f"void({I8}, {I8}, {_U1}, {I8}, {_U1})")
def copy_bytes(begins, lengths, pool, offsets, copied):
    """Stretches of the pool, one after the other."""
    for at in range(len(begins)):
        for byte in range(lengths[at]):
            copied[offsets[at] + byte] = pool[begins[at] + byte]
