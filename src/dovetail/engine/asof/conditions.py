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
from dovetail.model.predicate import Band, Equality, Predicate, Similarity
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
    assert not isinstance(predicate, Equality), "equalities are keys"
    expression = _similar(predicate) if isinstance(predicate, Similarity) else predicate.expression
    return true_rows(compiled(expression)(columns, length))


def _similar(wanted: Similarity) -> Expression:
    score = Call(wanted.measure, (wanted.left, wanted.right), pa.float64())
    threshold = Literal(wanted.threshold, pa.float64())
    return Call("gt" if wanted.strict else "ge", (score, threshold), pa.bool_())
