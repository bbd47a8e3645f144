"""Vectors."""

import numpy as np

from dovetail.engine.kernels.signature import F8, I8
from dovetail.kernel import kernel


@kernel(f"{F8}(float64[:, ::1], {I8}, float64[:, ::1], {I8})")
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
