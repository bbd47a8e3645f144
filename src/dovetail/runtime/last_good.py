"""The state after the last call that went well, so that a call that fails can be undone.

It is kept as slices and a header, and what each call changed is added to it: that costs what the call changed, and as
much memory again as the state itself. So only queries have it that call functions of the user's own, or ask for it.
"""

import pyarrow as pa

from dovetail.engine.buffer.section import Changes, SliceKey
from dovetail.model.expression import Call, Expression
from dovetail.model.predicate import operands
from dovetail.model.query import JoinQuery


class LastGood:
    """Slices and header; ``keep`` follows an engine, ``state`` is for one that takes its place."""

    def __init__(self) -> None:
        self._slices: dict[SliceKey, pa.RecordBatch] = {}
        self._header = b""

    def keep(self, changes: Changes) -> None:
        """A call went well, and changed this."""
        self._slices |= changes.new
        for key in changes.gone:
            del self._slices[key]
        self._header = changes.header

    def state(self) -> Changes:
        """Everything, for an engine that is new."""
        return Changes(dict(self._slices), [], self._header)


def can_be_undone(query: JoinQuery) -> bool:
    """Whether a run of the query keeps a state to go back to; a memory budget leaves no room for one."""
    limited = query.budget is not None and query.budget.memory is not None
    return not limited and (query.on_error == "divert" or calls_user_functions(query))


def calls_user_functions(query: JoinQuery) -> bool:
    """Whether any part of a query is code of the user's own."""
    expressions = [
        *(side for predicate in query.predicates for side in operands(predicate)),
        *(condition for _, condition in query.filters),
        *(output.expression for output in query.select),
        *(output.expression for output in (query.aggregation.select if query.aggregation else ())),
        *([query.aggregation.having] if query.aggregation and query.aggregation.having else []),
    ]
    return any(map(_calls_user, expressions))


def _calls_user(expression: Expression) -> bool:
    if not isinstance(expression, Call):
        return False
    return expression.user is not None or any(map(_calls_user, expression.arguments))
