"""Text to model: the conditions and select lists of a query, whole queries, and files of them.

    bind_condition("T.location = H.location AND T.value > 40", streams, functions)   ->   Condition
    bind_select("T.location, T.value AS temperature", streams, functions)            ->   tuple of Output
    bind_list("T.location, COUNT(*)", streams, functions)                            ->   Selected, with aggregates
    bind_statement("SELECT ... FROM ... WHERE ... WINDOW ...", streams, functions)   ->   Statement
    parse_pipeline("CREATE STREAM ...; INSERT INTO ... SELECT ...")                  ->   Pipeline

A text meets, in this order: ``dialect`` (text to sqlglot's tree), ``bind`` (tree to bound expression, with ``scope``
for names, ``build`` for types and ``calls`` for functions), ``classify`` and ``band`` (conjuncts to predicates).
A whole query starts in ``statement``, a file in ``pipeline``.

The names are looked up when they are first used: ``import dovetail`` loads this package, so that its function of the
same name can take the place of the module, and must not load sqlglot with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.sql.condition import Condition, bind_condition
    from dovetail.sql.pipeline import Pipeline, parse_pipeline
    from dovetail.sql.select import bind_list, bind_select
    from dovetail.sql.statement import Statement, bind_statement

__all__ = [
    "Condition",
    "Pipeline",
    "Statement",
    "bind_condition",
    "bind_list",
    "bind_select",
    "bind_statement",
    "parse_pipeline",
]

_HOMES = {
    "Condition": "condition",
    "bind_condition": "condition",
    "bind_list": "select",
    "bind_select": "select",
    "Statement": "statement",
    "bind_statement": "statement",
    "Pipeline": "pipeline",
    "parse_pipeline": "pipeline",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
