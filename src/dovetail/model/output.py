"""A column of the result."""

from dataclasses import dataclass

from dovetail.model.expression import Expression


@dataclass(frozen=True)
class Output:
    """One column of the result."""

    name: str
    expression: Expression
