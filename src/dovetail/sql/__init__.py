"""Text to model: the conditions and select lists of a query, bound to its streams.

    bind_condition("T.location = H.location AND T.value > 40", streams, functions)   ->   Condition
    bind_select("T.location, T.value AS temperature", streams, functions)            ->   tuple of Output

A text meets, in this order: ``dialect`` (text to sqlglot's tree), ``bind`` (tree to bound expression, with ``scope``
for names, ``build`` for types and ``calls`` for functions), ``classify`` and ``band`` (conjuncts to predicates).
"""

from dovetail.sql.condition import Condition, bind_condition
from dovetail.sql.select import bind_select

__all__ = ["Condition", "bind_condition", "bind_select"]
