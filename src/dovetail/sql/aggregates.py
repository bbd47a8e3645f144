"""Sliding aggregates in a select list, and GROUP BY.

    SELECT T.location, SUM(H.value) / COUNT(*) AS mean ... GROUP BY T.location

        the join gives        key 0 = T.location, argument 0 = H.value, until
        aggregates            aggregate 0 = SUM(argument 0), aggregate 1 = COUNT(*)
        comes out             location = key 0, mean = divide(aggregate 0, aggregate 1)

Items are bound as always, in a scope where an aggregate or the expression of a key stands for a column of its group.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import pyarrow as pa
from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.aggregate import GROUP, UNTIL, Aggregate, AggregateFunction, Aggregation, until
from dovetail.model.combinations import refusal
from dovetail.model.expression import Call, Column, Expression, Literal
from dovetail.model.output import Output
from dovetail.model.window import TimeWindow
from dovetail.sql.bind import bind
from dovetail.sql.build import coerce
from dovetail.sql.calls import AGGREGATES
from dovetail.sql.collations import check_plain
from dovetail.sql.dialect import sql_text
from dovetail.sql.place import placed
from dovetail.sql.scope import Scope
from dovetail.sql.types import is_number, keyable


@dataclass(frozen=True)
class GroupScope(Scope):
    """What names mean in the select list of an aggregating query; it notes what the join must give for it."""

    keys: tuple[Expression, ...] = ()
    arguments: list[Expression] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)

    def stand_in(self, node: object) -> Expression | None:
        """The column of a group that an aggregate or a key is."""
        if isinstance(node, exp.Anonymous) and is_aggregate(node, self):
            return self._aggregate(node)
        if isinstance(node, exp.Expr) and not any(is_aggregate(each, self) for each in node.find_all(exp.Anonymous)):
            return self._key(node)
        return None

    def _key(self, node: exp.Expr) -> Expression | None:
        own = bind(node, Scope(self.streams, self.functions, self.hidden))
        if own in self.keys:
            return Column(GROUP, f"key {self.keys.index(own)}", own.type)
        if isinstance(node, exp.Column):
            raise QueryError(f"{sql_text(node)} is neither inside an aggregate nor in GROUP BY")
        return None

    def _aggregate(self, node: exp.Anonymous) -> Expression:
        function, distinct = cast(AggregateFunction, node.name.lower()), False
        argument, type_ = None, pa.int64()
        if function != "count" or not (len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Star)):
            inner, distinct = _argument(node)
            value = _typed(function, bind(inner, Scope(self.streams, self.functions, self.hidden)), distinct, node)
            if distinct or function != "count":
                check_plain(value, self.streams)
            argument, type_ = self._noted(value), _result_type(function, value.type)
        same = [a for a in self.aggregates if (a.function, a.argument, a.distinct) == (function, argument, distinct)]
        if not same:
            name = f"aggregate {len(self.aggregates)}"
            same = [Aggregate(name, function, argument, distinct, type_, sql_text(node))]
            self.aggregates.extend(same)
        return Column(GROUP, same[0].name, type_)

    def _noted(self, value: Expression) -> str:
        if value not in self.arguments:
            self.arguments.append(value)
        return f"argument {self.arguments.index(value)}"


def is_aggregate(node: exp.Expr, scope: Scope) -> bool:
    """Whether a call is one; a user's function of that name is none."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in AGGREGATES and scope.function(node.name) is None


def has_aggregates(items: Sequence[exp.Expr], scope: Scope) -> bool:
    """Whether a select list is of groups and not of single results."""
    return any(is_aggregate(node, scope) for item in items for node in item.find_all(exp.Anonymous))


def group_scope(items: Sequence[exp.Expr], group: exp.Group | None, scope: Scope) -> GroupScope:
    """The scope of an aggregating select list; QueryError at what cannot be aggregated."""
    _check_no_star(items, "beside aggregates; name columns of GROUP BY")
    if group is not None and not has_aggregates(items, scope):
        raise placed(QueryError("GROUP BY without an aggregate such as COUNT(*) in the select list"), group)
    first = next(node for item in items for node in item.find_all(exp.Anonymous) if is_aggregate(node, scope))
    _check_time_windows(sql_text(first), first, scope)
    return GroupScope(scope.streams, scope.functions, scope.hidden, _keys(group, scope))


def distinct_scope(items: Sequence[exp.Expr], group: exp.Group, scope: Scope) -> GroupScope:
    """The scope of SELECT DISTINCT: every item is a key."""
    _check_no_star(items, "after DISTINCT; name the columns")
    _check_time_windows("SELECT DISTINCT", items[0], scope)
    return GroupScope(scope.streams, scope.functions, scope.hidden, _keys(group, scope))


def _check_no_star(items: Sequence[exp.Expr], instead: str) -> None:
    star = next((node for item in items for node in _stars(item)), None)
    if star is not None:
        raise placed(QueryError(f'"{sql_text(star)}" has no place {instead}'), star)


def _check_time_windows(what: str, node: exp.Expr, scope: Scope) -> None:
    counted = next((stream for stream in scope.streams if not isinstance(stream.window, TimeWindow)), None)
    if counted is not None:
        own = f"one of {counted.window}" if counted.window else "none"
        message = f"{what} needs windows of time, and '{counted.name}' has {own}"
        why = refusal({"aggregates": "yes", "windows": "rows" if counted.window else "as of"})
        raise placed(QueryError(f"{message}; {why.why}" if why else message), node)


def aggregation(
    scope: GroupScope, group: exp.Group | None, outputs: tuple[Output, ...], having: Expression | None = None
) -> Aggregation:
    """What was noted while the items of a select list were bound."""
    keys = tuple(f"key {at}" for at in range(len(scope.keys)))
    texts = tuple(sql_text(node) for node in group.expressions) if group else ()
    return Aggregation(keys, tuple(scope.aggregates), outputs, texts, having)


def appearing(scope: GroupScope, group: exp.Group, outputs: tuple[Output, ...]) -> Aggregation:
    """Groups that come out at the moments at which they appear: nothing of them counted before, and something does."""
    count = Aggregate("aggregate 0", "count", None, False, pa.int64(), "COUNT(*)")
    before = Aggregate("aggregate 1", "before", None, False, pa.int64(), "COUNT(*) before")
    scope.aggregates.extend([count, before])
    none = Call("eq", (Column(GROUP, before.name, pa.int64()), Literal(0, pa.int64())), pa.bool_())
    some = Call("gt", (Column(GROUP, count.name, pa.int64()), Literal(0, pa.int64())), pa.bool_())
    return aggregation(scope, group, outputs, Call("and", (none, some), pa.bool_()))


def joined_columns(scope: GroupScope) -> tuple[Output, ...]:
    """The columns that the join must give."""
    keys = [Output(f"key {at}", key) for at, key in enumerate(scope.keys)]
    arguments = [Output(f"argument {at}", value) for at, value in enumerate(scope.arguments)]
    return (*keys, *arguments, Output(UNTIL, until(tuple(scope.streams))))


def _stars(item: exp.Expr) -> list[exp.Expr]:
    """Stars that are items of their own, not the argument of COUNT."""
    bare = item.this if isinstance(item, exp.Alias) else item
    return [bare] if isinstance(bare, exp.Star) or isinstance(bare.this, exp.Star) else []


def _keys(group: exp.Group | None, scope: Scope) -> tuple[Expression, ...]:
    return tuple(_key(node, scope) for node in group.expressions) if group else ()


def _key(node: exp.Expr, scope: Scope) -> Expression:
    if next((each for each in node.find_all(exp.Anonymous) if is_aggregate(each, scope)), None) is not None:
        raise placed(QueryError(f'"{sql_text(node)}" is an aggregate; GROUP BY takes columns and expressions'), node)
    key = bind(node, scope)
    check_plain(key, scope.streams)
    if isinstance(key, Literal):
        raise placed(QueryError(f'"{sql_text(node)}" is a constant; GROUP BY takes columns and expressions'), node)
    if not keyable(key.type):
        raise placed(QueryError(f"cannot group by {sql_text(node)} ({key.type})"), node)
    return key


def _argument(node: exp.Anonymous) -> tuple[exp.Expr, bool]:
    """What is aggregated, and whether equal values count once."""
    name = node.name.upper()
    only = node.expressions[0] if len(node.expressions) == 1 else None
    distinct = isinstance(only, exp.Distinct)
    if isinstance(only, exp.Distinct):
        only = only.expressions[0] if len(only.expressions) == 1 and not only.args.get("on") else None
    if only is None or isinstance(only, exp.Star) or isinstance(only.this, exp.Star):
        raise QueryError(f'{name} takes one expression{" or *" if name == "COUNT" else ""} in "{sql_text(node)}"')
    if distinct and name in ("SUM", "AVG"):
        raise QueryError(f'DISTINCT is for COUNT, not for {name} in "{sql_text(node)}"')
    return only, distinct and name == "COUNT"


def _typed(function: str, value: Expression, distinct: bool, node: exp.Anonymous) -> Expression:
    """The argument in the type it is aggregated in."""
    type_, text = value.type, f'"{sql_text(node)}"'
    if pa.types.is_null(type_):
        raise QueryError(f"{text} is of NULL, which has no type; write CAST(... AS ...)")
    if function in ("sum", "avg") and not is_number(type_):
        raise QueryError(f"{function.upper()} needs a number, and {text} is of {type_}")
    if pa.types.is_decimal256(type_) and function == "sum":
        raise QueryError(f"{text} is of {type_}, which is too wide to sum; cast it to DECIMAL(38, {type_.scale})")
    if (function in ("min", "max") or distinct) and not keyable(type_):
        raise QueryError(f"{text} is of {type_}, whose values cannot be compared")
    if function == "sum" and type_ == pa.uint64():
        return coerce(value, pa.decimal128(20, 0))
    return value


def _result_type(function: str, type_: pa.DataType) -> pa.DataType:
    if function == "count":
        return pa.int64()
    if function == "avg" or (function == "sum" and pa.types.is_floating(type_)):
        return pa.float64()
    if function == "sum":
        return pa.decimal128(38, type_.scale) if pa.types.is_decimal(type_) else pa.int64()
    return type_
