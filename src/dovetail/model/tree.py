"""Which operators a query is split into: a nesting of the names of its streams.

(("A", "B"), "C")      an operator joins A and B; another joins its results with C
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from dovetail.errors import QueryError, nearest
from dovetail.model.choice import as_choice

Tree = str | tuple["Tree", ...]
PlanName = Literal["auto", "multiway", "binary"]

PLANS: tuple[PlanName, ...] = ("auto", "multiway", "binary")


def left_deep(names: Iterable[str]) -> Tree:
    """The binary tree that joins one stream after the other.

    >>> left_deep("ABCD")
    ((('A', 'B'), 'C'), 'D')
    """
    first, *rest = names
    tree: Tree = first
    for name in rest:
        tree = (tree, name)
    return tree


def leaves(tree: Tree) -> tuple[str, ...]:
    """The streams of a tree, left to right."""
    return (tree,) if isinstance(tree, str) else tuple(name for part in tree for name in leaves(part))


def tree_text(tree: Tree) -> str:
    """A tree as a name: ``((A, B), C)``."""
    return tree if isinstance(tree, str) else f"({', '.join(map(tree_text, tree))})"


def as_plan(plan: Any, names: Sequence[str]) -> PlanName | Tree:
    """A word, or a nesting of all streams' names.

    >>> as_plan([["A", "B"], "C"], "ABC")
    (('A', 'B'), 'C')
    """
    if isinstance(plan, str):
        return as_choice("plan", plan, PLANS)
    tree = _as_tree(plan)
    found = leaves(tree)
    unknown = next((name for name in found if name not in names), None)
    if unknown is not None:
        raise QueryError(f"plan={plan!r}: the query has no stream {unknown!r}; {nearest(unknown, names)}")
    if sorted(found) != sorted(names):
        raise QueryError(f"plan={plan!r}: name each of {', '.join(names)} exactly once")
    return tree


def _as_tree(plan: Any) -> Tree:
    if isinstance(plan, str):
        return plan
    if not isinstance(plan, tuple | list) or len(plan) < 2:
        raise QueryError(
            f"plan: {plan!r} is not a plan; give 'auto', 'multiway', 'binary', or a nesting of two parts or more, "
            "like (('A', 'B'), 'C')"
        )
    return tuple(_as_tree(part) for part in plan)
