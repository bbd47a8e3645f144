"""The queries that the simulator tells its stories of: every kind of join, order and window, on every sort of grid."""

from dataclasses import dataclass, field
from typing import Any

import dovetail as dv
from dovetail.plan.share_queries import SharedPlan
from tests.spark.queries import CONDITIONS, SCHEMA, shown

_SPILL = dv.budget(memory=dv.tuples(30), policy="spill")
_CPU = dv.budget(cpu=0.05, policy=dv.harvest(interval="2 seconds"))  # of a core: less than the meter of a worker says


@dataclass(frozen=True)
class Case:
    """A condition over streams, and the options of its query; ``rows``: of a stream in a batch, at most.

    ``stream`` are settings of all streams, and ``given`` those of some. With ``groups`` it selects aggregates; ``also``
    are more columns of its results.
    ``others`` share its operator. ``repeats``: how often a source sends rows again. ``too_far``: some rows lie further
    ahead than they may.
    """

    names: str
    on: str
    options: dict[str, Any] = field(default_factory=dict)
    rows: int = 12
    clock: bool = False
    stream: dict[str, Any] = field(default_factory=dict)
    given: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: str | None = None
    also: tuple[str, ...] = ()
    others: "tuple[Case, ...]" = ()
    repeats: float = 0.1
    too_far: bool = False

    def query(self) -> dv.Query:
        """The query itself, without those that share its operator."""
        options = {name: value for name, value in self.options.items() if name != "window"}
        streams = [self._stream(name) for name in self.names]
        if self.groups is not None:
            shows = f"{self.groups}, COUNT(*) AS n, SUM(B.n) AS s, MIN(A.x) AS m"
            joined = f"A {options.pop('how', 'inner')} JOIN B ON {self.on}"
            return dv.sql(f"SELECT {shows} FROM {joined} GROUP BY {self.groups}", *streams, **options)
        seen = shown(list(self.names), options.get("how", "inner"))
        items = [*(f"{name}.row AS {name.lower()}" for name in seen), *self.also]
        return dv.join(*streams, on=self.on, select=", ".join(items), **options)

    def shared(self) -> SharedPlan | None:
        """The one operator of the query and of those that share it; None if it runs alone."""
        if not self.others:
            return None
        (shared,) = dv.share(self.query(), *(other.query() for other in self.others)).plans
        return shared

    def _stream(self, name: str) -> Any:
        own = {"time": "ts", "schema": SCHEMA, "delay": "3 seconds"} | self.stream | self.given.get(name, {})
        if "key" in own:
            return dv.table(name, **own)
        window = self.options.get("window", "4 seconds")
        if not self.as_of:
            own = {"window": window[name] if isinstance(window, dict) else window} | own
        return dv.stream(name, **own)

    @property
    def as_of(self) -> bool:
        """Whether rows are answered by the best of other streams, which have no windows."""
        return any({"asof", "key"} & own.keys() for own in self.given.values())


_KEY, _LESS, _TWO_KEYS = "A.k = B.k", "A.k = B.k AND A.n < B.n", "A.k = B.k AND A.g = C.g"
_LATER = "A.k = B.k AND B.ts BETWEEN A.ts + INTERVAL '1' SECOND AND A.ts + INTERVAL '3' SECOND"
_SHORT = {"delay": "500 milliseconds"}
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
    "spilling as of": Case("AB", _KEY, {"budget": _SPILL, "how": {"B": "left"}}, given={"B": {"asof": dv.asof()}}),
    "spilling as of the nearest of two": Case(
        "ABC",
        _TWO_KEYS,
        {"budget": _SPILL, "order": "hold", "how": {"B": "inner", "C": "left"}},
        rows=7,
        given={name: {"asof": dv.asof("nearest", tolerance="2 seconds")} for name in "BC"},
    ),
    "idle streams": Case("AB", _KEY, stream={"idle": "5 seconds"}, clock=True),
    "idle streams in order": Case("AB", _LESS, {"order": "sync"}, stream={"idle": "3 seconds"}, clock=True),
    "idle left join": Case("AB", _LESS, {"how": "left"}, stream={"idle": "3 seconds"}, clock=True),
    "rows far ahead": Case("AB", _KEY, stream={"ahead": "700 seconds"}, too_far=True),
    "rows far ahead, in order": Case(
        "AB", _LESS, {"how": "left", "order": "hold"}, stream={"ahead": "700 seconds"}, too_far=True
    ),
    "short delay": Case("AB", _KEY, stream=_SHORT),
    "diverted rows": Case("AB", _LESS, {"late": "divert", "order": "hold"}, stream=_SHORT),
    "as of": Case("AB", _KEY, {"how": {"B": "left"}}, given={"B": {"asof": dv.asof(tolerance="3 seconds")}}),
    "as of later rows": Case("AB", _KEY, {"order": "hold"}, given={"B": {"asof": dv.asof("forward", equal=False)}}),
    "as of the nearest of two": Case(
        "ABC",
        _TWO_KEYS,
        {"how": {"B": "inner", "C": "left"}},
        rows=7,
        given={name: {"asof": dv.asof("nearest", tolerance="2 seconds")} for name in "BC"},
    ),
    "words by stream": Case("ABC", _TWO_KEYS, {"how": {"B": "left", "C": "anti"}}, rows=7),
    "words by stream in order": Case("ABC", _TWO_KEYS, {"how": {"B": "full", "C": "left"}, "order": "hold"}, rows=7),
    "table": Case("AB", _KEY, {"how": "left"}, given={"B": {"key": "k"}}),
    "table that forgets": Case("AB", _KEY, {"order": "hold"}, given={"B": {"key": "k", "ttl": "3 seconds"}}),
    "nearest match": Case("AB", _KEY, {"how": "left"}, given={"B": {"match": "nearest"}}),
    "first match": Case("AB", "A.k = B.k AND A.g = B.g", {"order": "hold"}, given={"B": {"match": "first"}}),
    "no repeats": Case("AB", _KEY, stream={"dedup": "row"}, repeats=0.6),
    "no repeats in a full join": Case(
        "AB", _LESS, {"how": "full", "order": "hold"}, stream={"dedup": "row"}, repeats=0.6
    ),
    "interval and no window": Case("AB", _LATER, {"window": None}),
    "interval of a left join": Case("AB", _LATER, {"window": None, "how": "left", "order": "hold"}),
    "no window": Case("AB", _LESS, {"window": {"A": dv.unbounded(), "B": "2 seconds"}, "how": "semi"}),
    "aggregates": Case("AB", _KEY, groups="A.k"),
    "aggregates of another column": Case("AB", _KEY, groups="B.g"),
    "aggregates of a left join": Case("AB", _LESS, {"how": "left"}, groups="A.k"),
    "shared": Case(
        "AB",
        _KEY,
        others=(
            Case("AB", _KEY, {"order": "hold", "window": "2 seconds"}),
            Case("AB", "A.k = B.k AND A.n > 20", {"how": "left"}),
            Case("AB", _KEY, groups="A.k"),
        ),
    ),
    "shared band": Case(
        "AB", "ABS(A.n - B.n) <= 3", others=(Case("AB", "ABS(A.n - B.n) <= 3", {"window": "9 seconds"}),)
    ),
    "CPU budget": Case("AB", _KEY, {"budget": _CPU}, clock=True),
    "CPU budget in order": Case("AB", _LESS, {"budget": _CPU, "order": "hold"}, clock=True),
}
