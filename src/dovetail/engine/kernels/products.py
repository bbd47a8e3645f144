"""The loops over vectors, row by row: sums of products, cosines."""

from math import sqrt
from typing import Any

import numpy as np

from dovetail.engine.kernels.signature import F8, I8
from dovetail.kernel import kernel

_VALUES, _PLACES = (f"Array({number}, 1, 'C', readonly=True)" for number in ("float64", "int64"))
_SIGNATURE = f"void({_VALUES}, {_PLACES}, {_VALUES}, {_PLACES}, {_PLACES}, boolean[::1], float64[::1])"


@kernel(_SIGNATURE)
def sum_products(a: Any, a_start: Any, b: Any, b_start: Any, size: Any, known: Any, result: Any) -> None:
    """result[i] = the sum of products of vector i, added from the first element to the last."""
    for i in range(len(known)):
        total = 0.0
        if known[i]:
            for k in range(size[i]):
                total += a[a_start[i] + k] * b[b_start[i] + k]
        result[i] = total


@kernel(_SIGNATURE)
def divide_by_norms(a: Any, a_start: Any, b: Any, b_start: Any, size: Any, known: Any, result: Any) -> None:
    """result[i] = the cosine of vector i; ``known[i]`` is cleared where a vector is zero."""
    for i in range(len(known)):
        product, a_square, b_square = 0.0, 0.0, 0.0
        if known[i]:
            for k in range(size[i]):
                x, y = a[a_start[i] + k], b[b_start[i] + k]
                product += x * y
                a_square += x * x
                b_square += y * y
        norm = sqrt(a_square) * sqrt(b_square)
        if norm == 0.0:
            known[i] = False
        else:
            result[i] = product / norm


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
