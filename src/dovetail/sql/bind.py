"""sqlglot's tree becomes a bound expression: one small rule per kind of node.

    EQ(Column(T, location), Column(H, location))   ->   eq(T.location, H.location)

What has no rule here (subqueries, windows, lambdas, ...) is refused by name.
"""

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.expression import Call, Column, Expression, Literal
from dovetail.sql.arithmetic import arithmetic
from dovetail.sql.brackets import check_brackets
from dovetail.sql.build import BOOLEAN, call, coerce, compare, condition, microseconds, unify
from dovetail.sql.calls import bind_call, callee
from dovetail.sql.cast import bind_cast
from dovetail.sql.dialect import sql_text
from dovetail.sql.functions import BUILT_IN, concat, number, text
from dovetail.sql.literal import DURATION, interval_literal, number_literal
from dovetail.sql.place import placed
from dovetail.sql.scope import Scope
from dovetail.sql.term import Term
from dovetail.sql.types import is_text, plain_type


def bind(node: exp.Expr, scope: Scope) -> Expression:
    """The bound form of a node; a QueryError that knows its place if it has none."""
    try:
        return scope.stand_in(node) or _rule(node)(node, scope)
    except QueryError as error:
        raise placed(error, node) from None


def _rule(node: exp.Expr) -> "Rule":
    for kind in type(node).__mro__:
        if kind in _RULES:
            return _RULES[kind]
    kind_name = type(node).__name__.upper()
    raise QueryError(f'"{sql_text(node)}" ({kind_name}) is not part of the language')


def term(node: exp.Expr, scope: Scope) -> Term:
    """A node with its bound form."""
    return Term(bind(node, scope), node)


def _column(node: exp.Column | exp.Dot, scope: Scope) -> Expression:
    if isinstance(node.this, exp.Star):
        raise QueryError(f'"{sql_text(node)}" is not a column; write it as stream.column')
    column = named_column(node, scope)
    return coerce(column, plain_type(column.type))


def named_column(node: exp.Column | exp.Dot, scope: Scope) -> Column:
    """The column, or the field of a structure, that a name stands for."""
    if isinstance(node, exp.Dot) or is_field(node, scope):
        return scope.nested([part.name for part in node.parts])
    return scope.column(node.table or None, node.name, bool(node.this.args.get("quoted")))


def is_field(node: exp.Column | exp.Dot, scope: Scope) -> bool:
    """Whether a name leads into a structure; with many points, SQL has another kind of node for it."""
    return isinstance(node, exp.Dot) or bool(node.args.get("db")) or scope.has_structure(node.table)


def _literal(node: exp.Literal, scope: Scope) -> Expression:
    return Literal(node.this, pa.string()) if node.is_string else number_literal(node.this)


def _boolean(node: exp.Boolean, scope: Scope) -> Expression:
    return Literal(bool(node.this), BOOLEAN)


def _comparison(function: str) -> "Rule":
    def rule(node: exp.Binary, scope: Scope) -> Expression:
        check_brackets(node)
        return compare(function, term(node.left, scope), term(node.right, scope), node)

    return rule


def _arithmetic(function: str) -> "Rule":
    def rule(node: exp.Binary, scope: Scope) -> Expression:
        return arithmetic(function, term(node.left, scope), term(node.right, scope), node)

    return rule


def _connector(function: str) -> "Rule":
    def rule(node: exp.Connector, scope: Scope) -> Expression:
        parts = [condition(term(part, scope), f"each side of {function.upper()}") for part in node.flatten()]
        return call(function, tuple(parts), BOOLEAN)

    return rule


def _not(node: exp.Not, scope: Scope) -> Expression:
    return call("not", (condition(term(node.this, scope), "the operand of NOT"),), BOOLEAN)


def _negative(node: exp.Neg, scope: Scope) -> Expression:
    operand = term(node.this, scope)
    if pa.types.is_duration(operand.expression.type):
        return coerce(call("negate", (microseconds(operand.expression),), pa.int64()), DURATION)
    if isinstance(operand.expression, Literal) and operand.expression == _LEAST_WITHOUT_SIGN:
        return Literal(-(2**63), pa.int64())
    value = number("-", operand, node)
    return call("negate", (value,), value.type)


def _between(node: exp.Between, scope: Scope) -> Expression:
    check_brackets(node)
    if node.args.get("symmetric"):
        raise QueryError("BETWEEN SYMMETRIC is not part of the language; take LEAST and GREATEST of its bounds")
    value = term(node.this, scope)
    low = compare("ge", value, term(node.args["low"], scope), node)
    high = compare("le", value, term(node.args["high"], scope), node)
    return call("and", (low, high), BOOLEAN)


def _in(node: exp.In, scope: Scope) -> Expression:
    check_brackets(node)
    if node.args.get("query") or node.args.get("unnest") or node.args.get("field") or not node.expressions:
        raise QueryError(f'"{sql_text(node)}": IN needs a list of values in parentheses')
    needle = term(node.this, scope)
    found = (_constant_of(option, needle.expression.type) for option in node.expressions)
    constants = [constant for constant in found if constant is not None]
    if len(constants) == len(node.expressions) > 1:
        return call("in", (needle.expression, *constants), BOOLEAN)
    matches = tuple(compare("eq", needle, term(option, scope), node) for option in node.expressions)
    if all(isinstance(match, Call) and match.arguments[0] == needle.expression for match in matches):
        values = [match.arguments[1] for match in matches if isinstance(match, Call)]
        hashable = not pa.types.is_floating(needle.expression.type)
        if hashable and len(values) > 1 and all(isinstance(value, Literal) for value in values):
            return call("in", (needle.expression, *values), BOOLEAN)
    return matches[0] if len(matches) == 1 else call("or", matches, BOOLEAN)


def _constant_of(option: exp.Expr, type: pa.DataType) -> Literal | None:
    """A constant written out in the very type it is looked for in; None for anything else, which needs a comparison."""
    if not isinstance(option, exp.Literal):
        return None
    if option.is_string:
        return Literal(option.this, type) if is_text(type) else None
    made = number_literal(option.this)
    return made if made.type == type == pa.int64() else None


def _like(node: exp.Like | exp.ILike, scope: Scope) -> Expression:
    check_brackets(node)
    value, pattern = text("like", term(node.this, scope), node), text("like", term(node.expression, scope), node)
    if not isinstance(pattern, Literal):
        raise QueryError(f'LIKE needs a pattern that is written out in "{sql_text(node)}"')
    if isinstance(node, exp.ILike):
        value, pattern = call("lower", (value,), value.type), call("lower", (pattern,), pattern.type)
    made = call("like", (value, pattern), BOOLEAN)
    return call("not", (made,), BOOLEAN) if node.args.get("negate") else made


def _is(node: exp.Is, scope: Scope) -> Expression:
    value, asked = term(node.this, scope), node.expression
    if isinstance(asked, exp.Null):
        return call("is_null", (value.expression,), BOOLEAN)
    if not isinstance(asked, exp.Boolean):
        raise QueryError(f'"{sql_text(node)}": IS is followed by NULL, TRUE or FALSE')
    holds = condition(value, "the operand of IS")
    holds = holds if asked.this else call("not", (holds,), BOOLEAN)
    return call("coalesce", (holds, Literal(False, BOOLEAN)), BOOLEAN)


def _same(node: exp.NullSafeEQ, scope: Scope) -> Expression:
    """Equal, or both NULL."""
    left, right = term(node.left, scope), term(node.right, scope)
    nulls = tuple(call("is_null", (side.expression,), BOOLEAN) for side in (left, right))
    return call("coalesce", (compare("eq", left, right, node), call("and", nulls, BOOLEAN)), BOOLEAN)


def _case(node: exp.Case, scope: Scope) -> Expression:
    operand = term(node.this, scope) if node.this else None
    conditions = [_when(branch, operand, scope) for branch in node.args["ifs"]]
    branches = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default") or exp.Null()]
    values = unify([term(branch, scope) for branch in branches], node)
    pairs = [part for pair in zip(conditions, values[:-1], strict=True) for part in pair]
    return call("case", (*pairs, values[-1]), values[-1].type)


def _when(branch: exp.If, operand: Term | None, scope: Scope) -> Expression:
    asked = term(branch.this, scope)
    return compare("eq", operand, asked, branch.this) if operand else condition(asked, "WHEN")


def _if(node: exp.If, scope: Scope) -> Expression:
    return _case(exp.Case(ifs=[node], default=node.args.get("false")), scope)


def _cast(node: exp.Cast, scope: Scope) -> Expression:
    return bind_cast(term(node.this, scope), node)


def _concat(node: exp.DPipe, scope: Scope) -> Expression:
    return concat("||", [term(part, scope) for part in node.flatten()], node)


def _extract(node: exp.Extract, scope: Scope) -> Expression:
    part = node.this.name.lower()
    if part not in ("year", "month", "day", "hour", "minute", "second"):
        raise QueryError(f'"{sql_text(node)}": EXTRACT knows YEAR, MONTH, DAY, HOUR, MINUTE and SECOND')
    return BUILT_IN[part].bind(part, [term(node.expression, scope)], node)


def _function(node: exp.Anonymous, scope: Scope) -> Expression:
    function = callee(node, scope)
    return bind_call(function, [term(argument, scope) for argument in node.expressions], node)


_LEAST_WITHOUT_SIGN = Literal(2**63, pa.uint64())  # with its sign it is the least int64

Rule = Callable[..., Expression]

_RULES: dict[type, Rule] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: lambda node, scope: Literal(None, pa.null()),
    exp.Interval: lambda node, scope: interval_literal(node),
    exp.Paren: lambda node, scope: bind(node.this, scope),
    exp.EQ: _comparison("eq"),
    exp.NEQ: _comparison("ne"),
    exp.LT: _comparison("lt"),
    exp.LTE: _comparison("le"),
    exp.GT: _comparison("gt"),
    exp.GTE: _comparison("ge"),
    exp.Add: _arithmetic("add"),
    exp.Dot: _column,
    exp.Sub: _arithmetic("subtract"),
    exp.Mul: _arithmetic("multiply"),
    exp.Div: _arithmetic("divide"),
    exp.Mod: _arithmetic("modulo"),
    exp.And: _connector("and"),
    exp.Or: _connector("or"),
    exp.Not: _not,
    exp.Neg: _negative,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Is: _is,
    exp.NullSafeEQ: _same,
    exp.NullSafeNEQ: lambda node, scope: call("not", (_same(node, scope),), BOOLEAN),
    exp.Case: _case,
    exp.If: _if,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.DPipe: _concat,
    exp.Extract: _extract,
    exp.Anonymous: _function,
}
