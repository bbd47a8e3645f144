"""A user's own function over whole columns, known by its name in every text."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from dovetail.errors import QueryError
from dovetail.model.expression import UserFunction

functions: dict[str, UserFunction] = {}


def function(
    name: str, callable: Callable[..., Any], arguments: Sequence[pa.DataType | str], result: pa.DataType | str
) -> UserFunction:
    """Make a function over whole columns usable by name in ``on`` and ``select``.

    >>> import dovetail as dv, pyarrow.compute as pc
    >>> dv.function("same_start", lambda a, b: pc.equal(pc.utf8_slice_codeunits(a, 0, 3),
    ...     pc.utf8_slice_codeunits(b, 0, 3)), ["string", "string"], "bool").name
    'same_start'
    """
    if isinstance(arguments, str) or not isinstance(arguments, Sequence):
        raise QueryError(f"function {name!r}: arguments={arguments!r}: it is a list of types, one per argument")
    types = tuple(_as_type(name, f"argument {at}", type_) for at, type_ in enumerate(arguments, 1))
    made = UserFunction(name, callable, types, _as_type(name, "the result", result))
    functions[name] = made
    return made


def _as_type(name: str, what: str, type_: Any) -> pa.DataType:
    if isinstance(type_, pa.DataType):
        return type_
    try:
        return pa.type_for_alias(str(type_))
    except ValueError:
        message = f"function {name!r}: {what} is {type_!r}; give an Arrow type, or its name such as 'int64' or 'string'"
        raise QueryError(message) from None
