"""A bound expression together with the text it came from, so that a message can name it.

describe(term)   ->   T.location (string)
"""

from typing import NamedTuple

from sqlglot import exp

from dovetail.model.expression import Expression
from dovetail.sql.dialect import sql_text


class Term(NamedTuple):
    """A bound expression and its source."""

    expression: Expression
    node: exp.Expr

    @property
    def text(self) -> str:
        return sql_text(self.node)


def describe(term: Term) -> str:
    """The term's text and type, as messages show them."""
    return f"{term.text} ({term.expression.type})"
