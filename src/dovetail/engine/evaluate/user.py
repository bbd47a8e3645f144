"""A user's own function: whole Arrow arrays in, one array out, checked against what was declared.

    distance(A.x, B.x) declared as (double, double) -> double   ->   callable(array, array), cast to double

What goes wrong inside it, or with its answer, is a DataError that names the function.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.errors import DataError
from dovetail.model.expression import Call, UserFunction


def call_user(call: Call) -> Callable[[list[pa.Array], int], pa.Array]:
    """The call as a function of its argument columns and their length."""
    function = call.user
    if function is None:
        raise ValueError(f"{call} is a call of a user function that does not carry the function")

    def called(arguments: list[pa.Array], length: int) -> pa.Array:
        try:
            answer = function.callable(*arguments)
        except MemoryError:
            raise  # nothing is wrong with the rows
        except Exception as error:
            raise DataError(f"function '{function.name}' failed on {length} rows: {error}") from error
        return _checked(function, answer, length)

    return called


def _checked(function: UserFunction, answer: Any, length: int) -> pa.Array:
    try:
        array = _as_array(answer, function.result)
    except MemoryError:
        raise
    except (pa.ArrowException, TypeError, ValueError) as error:
        came = f"{type(answer).__name__} of {answer.type}" if isinstance(answer, pa.Array) else type(answer).__name__
        raise DataError(
            f"function '{function.name}' was to return an array of {function.result}, but returned {came}: {error}"
        ) from error
    if len(array) != length:
        raise DataError(
            f"function '{function.name}' was given {length} rows and returned {len(array)}; "
            "it must return one value for each row"
        )
    return array


def _as_array(answer: Any, type: pa.DataType) -> pa.Array:
    if isinstance(answer, pa.ChunkedArray):
        answer = answer.combine_chunks()
    elif isinstance(answer, np.ndarray):
        answer = pa.array(answer)
    elif not isinstance(answer, pa.Array):
        answer = pa.array(answer, type)
    return answer if answer.type == type else answer.cast(type)
