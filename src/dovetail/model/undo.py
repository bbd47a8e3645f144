"""Which queries can undo a call that fails: those with code of the user's own, and those that divert rows on errors."""

from dovetail.model.expression import Call, Expression
from dovetail.model.predicate import operands
from dovetail.model.query import JoinQuery


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
