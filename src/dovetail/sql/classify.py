"""The conjuncts of a condition, each as what the engine can do with it.

    T.location = H.location AND T.value > 40 AND ABS(T.x - H.x) <= 2
        ->   Equality(T.location, H.location),  a filter on T,  Band(T.x, H.x, -2, 2)

A conjunct on one stream is a filter. A constant one that is not true is a filter on the first stream, never met.
"""

from collections.abc import Iterator

import pyarrow as pa

from dovetail.model.expression import Call, Expression, Literal, streams_of
from dovetail.model.predicate import Alternatives, Equality, Predicate, Residual, Similarity
from dovetail.sql.band import as_band
from dovetail.sql.build import BOOLEAN, call
from dovetail.sql.types import is_bytes, is_text, keyable

_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_MIRROR = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """The parts that must all hold, NOT moved inwards where three-valued logic allows it; TRUE is left out."""
    pending = [expression]
    while pending:
        part = pending.pop()
        if isinstance(part, Call) and part.function == "not":
            part = negated(part.arguments[0])
        if isinstance(part, Call):
            part = _null_safe(part) or part
        if isinstance(part, Call) and part.function == "and":
            pending.extend(reversed(part.arguments))
        elif not (isinstance(part, Literal) and part.value is True):
            yield part


def negated(expression: Expression) -> Expression:
    """NOT of an expression. Orders of floats keep their NOT: for NaN both ``<`` and ``>=`` are false."""
    if isinstance(expression, Call):
        function, arguments = expression.function, expression.arguments
        if function == "not":
            return arguments[0]
        if function in ("and", "or"):
            return call("or" if function == "and" else "and", tuple(negated(part) for part in arguments), BOOLEAN)
        exact = function in ("eq", "ne") or not pa.types.is_floating(arguments[0].type) if arguments else False
        if function in _OPPOSITE and exact:
            return call(_OPPOSITE[function], arguments, BOOLEAN)
    return call("not", (expression,), BOOLEAN)


def as_predicate(conjunct: Expression, order: tuple[str, ...]) -> Predicate:
    """A conjunct over two or more streams; ``order`` is the streams of the query."""
    if len(streams_of(conjunct)) == 2 and isinstance(conjunct, Call):
        found = _equality(conjunct) or _similarity(conjunct) or as_band(conjunct, order) or _alternatives(conjunct)
        if found is not None:
            return found
    return Residual(conjunct)


def _one_each(conjunct: Call) -> bool:
    """Whether the two sides speak of one stream each."""
    return len(conjunct.arguments) == 2 and all(len(streams_of(side)) == 1 for side in conjunct.arguments)


def _equality(conjunct: Call) -> Equality | None:
    if conjunct.function != "eq" or not _one_each(conjunct) or not keyable(conjunct.arguments[0].type):
        return None
    return Equality(*conjunct.arguments)


def _alternatives(conjunct: Call) -> Alternatives | None:
    """A disjunction, if each of its branches has an equality between the two streams."""
    if conjunct.function != "or":
        return None
    branches = []
    for part in _disjuncts(conjunct):
        calls = (each for each in conjuncts(part) if isinstance(each, Call) and len(streams_of(each)) == 2)
        equalities = tuple(found for call_ in calls if (found := _equality(call_)) is not None)
        if not equalities:
            return None
        branches.append(equalities)
    return Alternatives(conjunct, tuple(branches))


def _disjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == "or":
        for part in expression.arguments:
            yield from _disjuncts(part)
    else:
        yield expression


def _null_safe(part: Call) -> Expression | None:
    """``a IS NOT DISTINCT FROM b`` between two streams as two equalities that can be hashed.

    Both or neither are NULL, and what stands for NULL in both is equal too:

        (a IS NULL) = (b IS NULL) AND COALESCE(a, 0) = COALESCE(b, 0)
    """
    found = _equal_or_both_null(part)
    if found is None or not _one_each(found[0]) or len(streams_of(part)) != 2:
        return None
    nulls, sides = found[1], found[0].arguments
    if not keyable(sides[0].type) or not all(map(_null_with, sides, nulls)):
        return None
    nothing = Literal(_stand_in(sides[0].type), sides[0].type)
    filled = tuple(call("coalesce", (side, nothing), side.type) for side in sides)
    return call("and", (call("eq", nulls, BOOLEAN), call("eq", filled, BOOLEAN)), BOOLEAN)


def _equal_or_both_null(part: Call) -> tuple[Call, tuple[Expression, ...]] | None:
    """The two parts of ``COALESCE(a = b, a IS NULL AND b IS NULL)``."""
    if part.function != "coalesce" or len(part.arguments) != 2:
        return None
    equal, both = part.arguments
    if not isinstance(equal, Call) or not isinstance(both, Call) or (equal.function, both.function) != ("eq", "and"):
        return None
    nulls = all(isinstance(each, Call) and each.function == "is_null" for each in both.arguments)
    return (equal, both.arguments) if nulls and len(both.arguments) == 2 else None


def _null_with(side: Expression, null: Expression) -> bool:
    """Whether a side is NULL where this IS NULL says so, and nowhere else: the same, or a number as a wider one."""
    assert isinstance(null, Call)
    (asked,) = null.arguments
    if isinstance(side, Call) and side.function in ("cast", "epoch_us") and side.arguments == (asked,):
        return bool(pa.types.is_integer(side.type) or pa.types.is_floating(side.type))
    return side == asked


def _stand_in(type_: pa.DataType) -> object:
    """Any value of a type."""
    if pa.types.is_fixed_size_binary(type_):
        return bytes(type_.byte_width)
    return "" if is_text(type_) else b"" if is_bytes(type_) else False if pa.types.is_boolean(type_) else 0


def _similarity(conjunct: Call) -> Similarity | None:
    if conjunct.function not in _MIRROR:
        return None
    function, (measured, threshold) = conjunct.function, conjunct.arguments
    if isinstance(measured, Literal):
        function, measured, threshold = _MIRROR[function], threshold, measured
    if function not in ("ge", "gt") or not isinstance(threshold, Literal) or threshold.value is None:
        return None
    if not isinstance(measured, Call) or not _one_each(measured):
        return None
    left, right = measured.arguments
    if measured.function == "inner_product":
        return Similarity(left, right, "inner_product", threshold.value, function == "gt")
    if measured.function == "cosine_similarity":
        return Similarity(left, right, "cosine_similarity", threshold.value, function == "gt")
    return None
