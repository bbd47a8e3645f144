"""What control may change about a running join between blocks: how windows are stored and probed, when they forget.

Results are the same under every decision. It is part of the state, so that a run that goes on elsewhere goes on
with the same plan.

    >>> first = Decision({"A": "hash", "B": "hash"}, {"A": ("B",), "B": ("A",)})
    >>> Decision.from_json(first.to_json()) == first
    True
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.model.algorithm import Algorithm


@dataclass(frozen=True)
class Decision:
    """A structure per stream and a probe order per arriving stream; ``lazy`` names windows that forget when probed.

    ``version`` counts the decisions of a run; at 0 it is still as planned before anything was known.
    """

    algorithms: Mapping[str, Algorithm]
    orders: Mapping[str, tuple[str, ...]]
    lazy: tuple[str, ...] = ()
    version: int = 0

    def to_json(self) -> dict[str, Any]:
        """As plain values, for a header."""
        orders = {name: list(order) for name, order in self.orders.items()}
        algorithms = dict(self.algorithms)
        return {"algorithms": algorithms, "orders": orders, "lazy": list(self.lazy), "version": self.version}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Decision":
        """Back from plain values."""
        orders = {name: tuple(order) for name, order in values["orders"].items()}
        return Decision(dict(values["algorithms"]), orders, tuple(values["lazy"]), values["version"])
