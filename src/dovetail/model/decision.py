"""What control may change about a running join between blocks, in one frozen value.

    structures, probe orders, lazy windows      how windows are stored and probed, when they forget
    waits                                       where ordered output waits: at the door or at the exit
    shed                                        what is left out for want of CPU time
    pace                                        how many rows may be joined before control is asked again
    load                                        how much of the budget this operator has, beside other buckets

But for what is shed, results are the same under every decision. It is part of the state, so that a run that goes on
elsewhere goes on with the same plan.

    >>> first = Decision({"A": "hash", "B": "hash"}, {"A": ("B",), "B": ("A",)})
    >>> Decision.from_json(first.to_json()) == first
    True
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
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
    the query says; ``pace`` None: nothing waits for CPU time. ``load``: the part of the query's budget that is this
    operator's, one bucket's of several.
    """

    algorithms: Mapping[str, Algorithm]
    orders: Mapping[str, tuple[str, ...]]
    lazy: tuple[str, ...] = ()
    version: int = 0
    waits: Waits | None = None
    shed: Shed = NOTHING_SHED
    pace: Pace | None = None
    load: float = 1.0

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
        load = {} if self.load == 1.0 else {"load": self.load}
        return self.plan_json() | {"waits": self.waits, "shed": self.shed.to_json()} | load

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Decision":
        """Back from plain values."""
        orders = {name: tuple(order) for name, order in values["orders"].items()}
        waits: Waits | None = values["waits"]
        shed = Shed.from_json(values["shed"])
        algorithms, lazy, load = dict(values["algorithms"]), tuple(values["lazy"]), float(values.get("load", 1.0))
        if not 0 < load < inf:
            raise ValueError(f"a bucket's load is a number above 0, not {load}")
        return Decision(algorithms, orders, lazy, int(values["version"]), waits, shed, load=load)
