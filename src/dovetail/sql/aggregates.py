"""Aggregates in a select list, refused by name: they would be over the sliding output of the join.

SELECT COUNT(S.a) ...   ->   COUNT(S.a) is an aggregate: sliding aggregates are not available
"""

from collections.abc import Sequence

from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.sql.calls import AGGREGATES
from dovetail.sql.dialect import sql_text
from dovetail.sql.place import placed
from dovetail.sql.scope import Scope


def refuse_aggregates(items: Sequence[exp.Expr], scope: Scope) -> None:
    """QueryError at the first aggregate; a user's function of that name is none."""
    for node in (node for item in items for node in item.find_all(exp.Anonymous)):
        if node.name.lower() in AGGREGATES and scope.function(node.name) is None:
            raise placed(QueryError(f"{sql_text(node)} is an aggregate: sliding aggregates are not available"), node)
