"""The queries that the simulator tells its stories of: every kind of join, order and window, on every sort of grid."""

from dataclasses import dataclass, field
from typing import Any

import dovetail as dv
from tests.spark.queries import CONDITIONS, bare

_SPILL = dv.budget(memory=dv.tuples(30), policy="spill")


@dataclass(frozen=True)
class Case:
    """A condition over streams, and the options of its query; ``rows``: of a stream in a batch, at most."""

    names: str
    on: str
    options: dict[str, Any] = field(default_factory=dict)
    rows: int = 12
    clock: bool = False

    def query(self) -> dv.Query:
        """The query itself."""
        made = bare(self.on, self.names, **{key: value for key, value in self.options.items() if key != "stream"})
        return made.replace(streams=tuple(self._changed(stream) for stream in made.model.streams))

    def _changed(self, stream: Any) -> Any:
        from dataclasses import replace

        return replace(stream, **self.options.get("stream", {}))


_KEY, _LESS = "A.k = B.k", "A.k = B.k AND A.n < B.n"
CASES = {
    **{
        f"inner on {name}": Case(names, on, rows=12 if len(names) == 2 else 7)
        for name, (names, on) in CONDITIONS.items()
    },
    **{f"order {order}": Case("AB", _LESS, {"order": order}) for order in ("sync", "hold", "adaptive")},
    **{f"{how} join": Case("AB", _LESS, {"how": how}) for how in ("left", "right", "full", "semi", "anti")},
    "left join held": Case("AB", _LESS, {"how": "left", "order": "hold"}),
    "anti join in sync": Case("AB", _LESS, {"how": "anti", "order": "sync"}),
    "full join of a band": Case("AB", "ABS(A.n - B.n) <= 3", {"how": "full", "order": "hold"}),
    "last rows per key": Case("AB", _LESS, {"window": {"A": dv.rows(3, per="key"), "B": "4 seconds"}}),
    "last rows": Case("AB", _LESS, {"window": {"A": dv.rows(9), "B": "4 seconds"}}),
    "last rows of both, in order": Case("AB", _KEY, {"window": {"A": dv.rows(4), "B": dv.rows(6)}, "order": "hold"}),
    "ordered band of three": Case("ABC", CONDITIONS["chain of bands"][1], {"order": "hold"}, rows=7),
    "spilling": Case("AB", _KEY, {"budget": _SPILL}),
    "spilling in order": Case("AB", _KEY, {"budget": _SPILL, "order": "hold"}),
    "spilling by stream": Case(
        "ABC", "A.k = B.k AND A.k = C.k", {"budget": _SPILL, "how": {"B": "left", "C": "full"}}, rows=7
    ),
    "idle streams": Case("AB", _KEY, {"stream": {"idle_us": 5_000_000}}, clock=True),
    "idle streams in order": Case("AB", _LESS, {"order": "sync", "stream": {"idle_us": 3_000_000}}, clock=True),
    "rows far ahead": Case("AB", _KEY, {"stream": {"ahead_us": 700_000_000}}),
    "short delay": Case("AB", _KEY, {"delay": "500 milliseconds"}),
    "diverted rows": Case("AB", _LESS, {"late": "divert", "delay": "500 milliseconds", "order": "hold"}),
}
