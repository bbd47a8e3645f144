"""Arithmetic over integers whose overflow is NULL: a stream must not end because of one row.

    9223372036854775807 + 1        ->   NULL
    ABS(-9223372036854775808)      ->   NULL

Arrow's checked kernels do the work; only a batch in which one of them overflows is computed again with NumPy, which
wraps around, and what wrapped is taken out. Floats have infinities, and do not overflow.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.evaluate.decimals import decimal_operation
from dovetail.model.expression import Call

Integers = npt.NDArray[np.int64]
_LEAST = np.iinfo(np.int64).min


def null_on_overflow(name: str) -> Callable[[Call], Callable[..., Any]]:
    """One of Arrow's add, subtract, multiply, negate, abs in the type that the call was bound with."""
    plain, checked = pc.get_function(name).call, pc.get_function(f"{name}_checked").call

    def build(call: Call) -> Callable[..., Any]:
        if pa.types.is_decimal(call.type):
            return decimal_operation(name, call)
        if not pa.types.is_integer(call.type):
            return lambda *values: plain(values)

        def run(*values: Any) -> Any:
            try:
                return checked(values)
            except pa.ArrowInvalid:
                return _without_overflow(name, values)

        return run

    return build


def _without_overflow(name: str, values: tuple[Any, ...]) -> Any:
    if all(isinstance(value, pa.Scalar) for value in values):
        return pa.scalar(None, pa.int64())
    known = [pc.is_valid(value) for value in values]
    numbers = [_numbers(value) for value in values]
    result, wrapped = _WRAPPING[name](*numbers)
    valid = known[0] if len(known) == 1 else pc.and_(*known)
    return pc.if_else(pc.and_(valid, pa.array(~wrapped)), pa.array(result), pa.scalar(None, pa.int64()))


def _numbers(value: Any) -> Integers:
    if isinstance(value, pa.Scalar):
        return np.array([value.as_py() or 0], np.int64)
    numbers: Integers = value.fill_null(0).to_numpy(zero_copy_only=False)
    return numbers


def _add(a: Integers, b: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    result = a + b
    return result, ((a ^ result) & (b ^ result)) < 0


def _subtract(a: Integers, b: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    result = a - b
    return result, ((a ^ b) & (a ^ result)) < 0


def _multiply(a: Integers, b: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """A product that wrapped is off by 2 ** 64 or more, which no division by one factor hides."""
    result = a * b
    divisor = np.where((a == 0) | (a == -1), 1, a)
    wrapped = (a != 0) & (a != -1) & (result // divisor != b)
    return result, wrapped | ((a == -1) & (b == _LEAST))


def _negate(a: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    return -a, a == _LEAST


def _abs(a: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    return np.abs(a), a == _LEAST


_WRAPPING: dict[str, Callable[..., tuple[Integers, npt.NDArray[np.bool_]]]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "negate": _negate,
    "abs": _abs,
}
