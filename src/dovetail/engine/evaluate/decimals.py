"""Arithmetic over decimals: exact, then rounded to the digits of the result's type; what is too large for it is NULL.

decimal(10, 2) + decimal(10, 3)       exact in decimal(12, 3), which Arrow computes itself
decimal(38, 18) * decimal(38, 18)     exact in 76 digits, then decimal(38, 6), halves away from zero
7.5 % -2                              1.5: the sign of the dividend
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.kernels.remainders import find_remainders
from dovetail.model.expression import Call

_MOST_DIGITS = 76  # of Arrow's widest decimal
_WORD_DIGITS = 9  # a power of ten that fits in 32 bits, by which Arrow divides 256 bits correctly
_WIDEST = pa.decimal256(_MOST_DIGITS, 0)
_WHOLE = pa.decimal256(_MOST_DIGITS - 1, 0)  # leaves Arrow the digit that it wants for a sum


def decimal_operation(name: str, call: Call) -> Callable[..., Any]:
    """One of Arrow's add, subtract, multiply, negate, abs in the decimal type that the call was bound with."""
    plain = pc.get_function(name).call
    fewer = 1 if name == "multiply" else 0  # Arrow counts a digit more than a product has, and refuses 38 by 38
    if len(call.arguments) == 1 or _own_type(name, call) == call.type:
        return lambda *values: plain(values)

    def run(left: pa.Array, right: pa.Array) -> pa.Array:
        return _shortened(plain([_wide(left, fewer), _wide(right, fewer)]), call.type)

    return lambda *values: _over_arrays(run, values)


def _own_type(name: str, call: Call) -> pa.DataType | None:
    """The type that Arrow gives the result; None if it has too many digits for the arguments' kind of decimal."""
    try:
        return pc.call_function(name, [pa.nulls(0, argument.type) for argument in call.arguments]).type
    except pa.ArrowInvalid:
        return None


def _over_arrays(operation: Callable[..., pa.Array], values: tuple[Any, ...]) -> Any:
    """An operation that needs arrays, over arrays and scalars."""
    length = next((len(value) for value in values if not isinstance(value, pa.Scalar)), None)
    spread = [pa.repeat(value, length or 1) if isinstance(value, pa.Scalar) else value for value in values]
    made = operation(*spread)
    return made[0] if length is None else made


def rounded_to(target: pa.DataType) -> Callable[[Any], Any]:
    """A cast to a decimal with fewer digits after the point; NULL where it has too few before it."""
    return lambda value: _over_arrays(lambda values: _shortened(_wide(values, 0), target), (value,))


def truncated(value: Any) -> Any:
    """Decimals without their digits after the point, as decimals of 256 bits."""
    return _over_arrays(lambda values: _cut(_relabelled(_wide(values, 0), _WHOLE), values.type.scale), (value,))


def _shortened(exact: pa.Array, target: pa.DataType) -> pa.Array:
    """Decimals of 256 bits, with no fewer digits after the point than the target, in the target's type."""
    spare = exact.type.scale - target.scale
    whole = _relabelled(exact, _WHOLE)
    if spare:
        half = pa.scalar(5 * 10 ** (spare - 1), _WHOLE)
        whole = _cut(pc.add(whole, pc.if_else(pc.less(whole, pa.scalar(0, _WHOLE)), pc.negate(half), half)), spare)
    most = pa.scalar(10**target.precision - 1, _WIDEST)
    whole = pc.if_else(pc.less_equal(pc.abs(whole), most), whole, pa.scalar(None, whole.type))
    return _relabelled(whole, pa.decimal256(_MOST_DIGITS, target.scale)).cast(target, safe=False)


def _cut(whole: pa.Array, digits: int) -> pa.Array:
    """Whole numbers without their last digits, of which Arrow's division by more than one word loses count."""
    whole = _relabelled(whole, _WIDEST)
    for step in [_WORD_DIGITS] * (digits // _WORD_DIGITS) + [digits % _WORD_DIGITS]:
        whole = _relabelled(whole, pa.decimal256(_MOST_DIGITS, step)).cast(_WIDEST, safe=False)
    return whole


def _wide(values: pa.Array, fewer: int) -> pa.Array:
    """The values in 256 bits, labelled with fewer digits than they may have."""
    precision, scale = values.type.precision, values.type.scale
    wide = values.cast(pa.decimal256(precision, scale))
    return _relabelled(wide, pa.decimal256(max(precision - fewer, 1), scale))


def _relabelled(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """The same bits under another precision and scale."""
    return pa.Array.from_buffers(type_, len(values), values.buffers(), offset=values.offset)


def decimal_remainder(call: Call) -> Callable[[Any, Any], Any]:
    """The remainder with the sign of the dividend; NULL where the divisor is zero."""
    return lambda *values: _over_arrays(lambda left, right: _remainder(left, right, call.type), values)


def _remainder(left: pa.Array, right: pa.Array, target: pa.DataType) -> pa.Array:
    known = pc.and_(pc.is_valid(left), pc.is_valid(right)).to_numpy(zero_copy_only=False)
    words = np.zeros((len(left), 2), np.uint64)
    up = target.scale - left.type.scale, target.scale - right.type.scale
    find_remainders(_words(left), _words(right), up[0], up[1], words, known)
    valid = pa.array(known).buffers()[1]
    return pa.Array.from_buffers(target, len(left), [valid, pa.py_buffer(words)])


def _words(values: pa.Array) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """128-bit numbers as rows of a low and a high word."""
    words = np.frombuffer(values.buffers()[1], np.uint64).reshape(-1, 2)
    return words[values.offset : values.offset + len(values)]
