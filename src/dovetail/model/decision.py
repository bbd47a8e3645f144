"""What control may change about a running join between blocks, in one frozen value.

    structures, probe orders, lazy windows      how windows are stored and probed, when they forget
    waits                                       where ordered output waits: at the door or at the exit
    shed                                        what is left out for want of CPU time
    pace                                        how many rows may be joined before control is asked again

But for what is shed, results are the same under every decision. It is part of the state, so that a run that goes on
elsewhere goes on with the same plan.

    >>> first = Decision({"A": "hash", "B": "hash"}, {"A": ("B",), "B": ("A",)})
    >>> Decision.from_json(first.to_json()) == first
    True
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dovetail.model.algorithm import Algorithm
from dovetail.model.shedding import Shed

Waits = Literal["sync", "hold"]
NOTHING_SHED = Shed()


@dataclass(frozen=True)
class Pace:
    """How many waiting rows may go on now, and how many of each stream may wait; not part of the state."""

    rows: int
    room: Mapping[str, int]


@dataclass(frozen=True)
class Decision:
    """A structure per stream and a probe order per arriving stream; ``lazy`` names windows that forget when probed.

    ``version`` counts the plans of a run; at 0 it is still as planned before anything was known. ``waits`` None: as
    the query says; ``pace`` None: nothing waits for CPU time.
    """

    algorithms: Mapping[str, Algorithm]
    orders: Mapping[str, tuple[str, ...]]
    lazy: tuple[str, ...] = ()
    version: int = 0
    waits: Waits | None = None
    shed: Shed = NOTHING_SHED
    pace: Pace | None = None

    def same_plan(self, other: "Decision") -> bool:
        """Whether windows are stored and probed alike."""
        ours, theirs = ((d.algorithms, d.orders, d.lazy, d.version) for d in (self, other))
        return ours == theirs

    def plan_json(self) -> dict[str, Any]:
        """Structures, orders and the version, as plain values."""
        orders = {name: list(order) for name, order in self.orders.items()}
        algorithms = dict(self.algorithms)
        return {"algorithms": algorithms, "orders": orders, "lazy": list(self.lazy), "version": self.version}

    def to_json(self) -> dict[str, Any]:
        """All that is part of the state, as plain values."""
        return self.plan_json() | {"waits": self.waits, "shed": self.shed.to_json()}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Decision":
        """Back from plain values."""
        orders = {name: tuple(order) for name, order in values["orders"].items()}
        waits: Waits | None = values["waits"]
        shed = Shed.from_json(values["shed"])
        return Decision(dict(values["algorithms"]), orders, tuple(values["lazy"]), int(values["version"]), waits, shed)
