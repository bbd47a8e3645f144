"""The conjuncts of a condition, each as what the engine can do with it.

    T.location = H.location AND T.value > 40 AND ABS(T.x - H.x) <= 2
        ->   Equality(T.location, H.location),  a filter on T,  Band(T.x, H.x, -2, 2)

A conjunct on one stream is a filter. A constant one that is not true is a filter on the first stream, never met.
"""

from collections.abc import Iterator

import pyarrow as pa

from dovetail.model.expression import Call, Expression, Literal, streams_of
from dovetail.model.predicate import Equality, Predicate, Residual, Similarity
from dovetail.sql.band import as_band
from dovetail.sql.build import BOOLEAN, call
from dovetail.sql.types import keyable

_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_MIRROR = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """The parts that must all hold, NOT moved inwards where three-valued logic allows it; TRUE is left out."""
    pending = [expression]
    while pending:
        part = pending.pop()
        if isinstance(part, Call) and part.function == "not":
            part = negated(part.arguments[0])
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
        found = _equality(conjunct) or _similarity(conjunct) or as_band(conjunct, order)
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
