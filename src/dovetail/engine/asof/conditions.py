"""What must hold between a row and an answer beside equal keys, over whole arrays of pairs."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.derive import both, derive
from dovetail.engine.block.arrow_values import true_rows
from dovetail.engine.combine.check import in_band
from dovetail.engine.evaluate.compiled import compiled
from dovetail.model.expression import Call, Expression, Literal
from dovetail.model.predicate import Band, Equality, Predicate, Residual, Similarity
from dovetail.plan.physical import Number

Columns = Mapping[tuple[str, str], pa.Array]
Flags = npt.NDArray[np.bool_]


def met(predicate: Predicate, columns: Columns, length: int) -> Flags:
    """For which pairs the predicate holds."""
    if isinstance(predicate, Band):
        left, left_known = derive(Number(predicate.left), columns, length)
        right, right_known = derive(Number(predicate.right), columns, length)
        found, known = in_band(predicate, left, right), both(left_known, right_known)
        return found if known is None else found & known
    return is_true(_as_expression(predicate), columns, length)


def is_true(condition: Expression, columns: Columns, length: int) -> Flags:
    """For which pairs a condition is true."""
    return true_rows(compiled(condition)(columns, length))


def _as_expression(predicate: Equality | Similarity | Residual) -> Expression:
    if isinstance(predicate, Equality):
        return Call("eq", (predicate.left, predicate.right), pa.bool_())
    return _similar(predicate) if isinstance(predicate, Similarity) else predicate.expression


def _similar(wanted: Similarity) -> Expression:
    score = Call(wanted.measure, (wanted.left, wanted.right), pa.float64())
    threshold = Literal(wanted.threshold, pa.float64())
    return Call("gt" if wanted.strict else "ge", (score, threshold), pa.bool_())
