"""Comparisons in a row, which are refused: databases read them differently.

a = b < c              DuckDB refuses it, Spark reads (a = b) < c, others a = (b < c)
a = b IN (1, 2)        DuckDB reads a = (b IN (1, 2)), Spark (a = b) IN (1, 2)
a <> b IS NOT NULL     fine: (a <> b) IS NOT NULL everywhere
"""

from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.sql.dialect import sql_text

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_RANGES = (exp.In, exp.Between, exp.Like, exp.ILike)


def check_brackets(node: exp.Expr) -> None:
    """QueryError if an operand of a comparison, IN, BETWEEN or LIKE is itself one without brackets around it."""
    for operand in (node.this, node.args.get("expression")):
        inner = operand
        while isinstance(inner, exp.Not):
            inner = inner.this
        if operand is not None and isinstance(inner, (*_COMPARISONS, *_RANGES)):
            raise QueryError(
                f'"{sql_text(node)}" has one comparison inside another, which databases read in different ways; '
                f"put brackets around the inner one, such as ({sql_text(operand)}), or join the two by AND"
            )
