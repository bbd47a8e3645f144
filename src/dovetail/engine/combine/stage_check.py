"""Which combinations a stage of a join by stream keeps: numbers are there, keys are equal, conditions on NULL hold."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.derive import derive
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.check import holds, holds_with_null
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.probe import checked
from dovetail.model.expression import Call, Expression, columns_of
from dovetail.plan.physical import Attribute, Group, Key, Option, Stage

Windows = Mapping[str, Window]


def fitting(stage: Stage, windows: Windows, partial: Partial) -> Partial:
    """Those for which every condition of the stage holds."""
    partial = checked(stage.level, windows, _comparable(stage, windows, partial))
    for equality in stage.verify:
        same = Call("eq", (equality.left, equality.right), pa.bool_())
        partial = partial.where(holds(same, windows, partial))
    for predicate in stage.with_null:
        partial = partial.where(holds_with_null(predicate, windows, partial))
    return partial


def _comparable(stage: Stage, windows: Windows, partial: Partial) -> Partial:
    """Without those in which a number is missing that a condition compares: NULL and NaN match nothing."""
    for attribute in stage.compared:
        (name,) = {column.stream for each in _expressions(attribute) for column in columns_of(each)}
        partial = partial.where(_has(attribute, name, windows[name], partial.ids[name]))
    return partial


def _has(attribute: Attribute, name: str, window: Window, ids: Ids) -> npt.NDArray[np.bool_]:
    """Which tuples have a number; those that can match all they meet have every one."""
    eligible = window.eligible(ids)
    if eligible is None or eligible.all():
        return np.ones(len(ids), np.bool_)
    rest = ids[~eligible]
    columns = {
        (name, column.name): window.take(column.name, rest)
        for each in _expressions(attribute)
        for column in columns_of(each)
    }
    _, valid = derive(attribute, columns, len(rest), window.vector_width(attribute))
    has = np.ones(len(ids), np.bool_)
    if valid is not None:
        has[~eligible] = valid
    return has


def _expressions(attribute: Attribute) -> tuple[Expression, ...]:
    return attribute.expressions if isinstance(attribute, Key | Group | Option) else (attribute.expression,)
