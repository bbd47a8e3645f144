"""Which numbers of a stream need not be kept beside its columns, since a column has them already."""

import pyarrow as pa

from dovetail.engine.block.arrow_values import layout
from dovetail.model.expression import Column
from dovetail.plan.physical import Attribute, Group, Key, Number, Option, Vector


def stored_as(name: str, attribute: Attribute) -> str | None:
    """The column of stream ``name`` that is the attribute, number for number."""
    if isinstance(attribute, Vector | Group | Option) or (
        isinstance(attribute, Key) and len(attribute.expressions) > 1
    ):
        return None
    operand = attribute.expressions[0] if isinstance(attribute, Key) else attribute.expression
    if not isinstance(operand, Column) or operand.stream != name:
        return None
    found = layout(operand.type)
    numeric = found is not None and found[1] == 1 and found[0].itemsize == 8 and found[0].kind in "if"
    if not numeric or (isinstance(attribute, Key) and pa.types.is_floating(operand.type)):
        return None
    return operand.name


def holds_nan(attribute: Attribute) -> bool:
    """Whether a number may be there that nothing equals."""
    return isinstance(attribute, Number) and bool(pa.types.is_floating(attribute.expression.type))
