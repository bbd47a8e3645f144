"""A CPU budget at run time: time given by ``tick``, time used by the engine, and a decision at every interval's end.

    tick(now)    the share of the time since the last tick is given, up to an interval's worth in all
    push         what the time given allows is joined, piece by piece; the rest waits at the gate
    interval     arrived and consumed -> throttle -> what to leave out; the engine follows from the next piece on

Before the first tick no time is known to pass, and nothing waits. Example, cpu=0.5 and an interval of 1 s: a second
later, 0.5 s of work may be done; a piece that takes 0.6 s leaves a debt of 0.1 s, to be paid by the next tick.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations
from math import inf, prod
from typing import Any

import pyarrow as pa

from dovetail.control.correlations import Window as Seen
from dovetail.control.harvest_order import best_order
from dovetail.control.in_force import cost_of
from dovetail.control.places import Order, Places
from dovetail.control.shed_load import ShedLoad, Situation
from dovetail.engine.block.elapsed import Elapsed
from dovetail.engine.operator.engine import Engine
from dovetail.engine.policies.memory.trim import Trim
from dovetail.engine.policies.shed.estimate import Estimate
from dovetail.engine.policies.shed.shedding import Shedding
from dovetail.errors import BudgetError
from dovetail.model.budget import Budget
from dovetail.model.window import TimeWindow, Window
from dovetail.observe.budget_report import budget_report
from dovetail.plan.join_graph import close_equalities

_ALL = 1 << 60
_FEW_ROWS, _MANY_ROWS = 16, 1 << 14
_ROOM = 1024
_PIECES = 20  # an interval's work is cut into at least so many, lest one takes more than is left
_RECENT = 0.5
_MEMORY = 0.98

Rows = Iterator[pa.RecordBatch]
Orders = Mapping[str, Order]
Windows = Mapping[str, Mapping[str, Seen]]


class CpuBudget:
    """Ties one engine to its budget; ``meter`` tells the CPU seconds used so far, ours and others'."""

    def __init__(self, engine: Engine, budget: Budget, meter: Callable[[], float]) -> None:
        assert engine.shedding is not None
        assert budget.cpu is not None
        self._engine, self._budget, self._meter = engine, budget, meter
        self._shedding: Shedding = engine.shedding
        self.control = ShedLoad(engine.plan.query.names, budget)
        self._share = budget.cpu
        self._clock = Elapsed()
        self._now: int | None = None
        self._first = self._began = 0
        self._credit_s = 0.0
        self._read = 0.0
        self.used_s = self.given_s = 0.0
        self._before = self._readings()
        self._recent_s = self._recent_rows = 0.0
        self._speed = _Speed()
        self._rows_before = sum(engine.joined.values())
        self._room = dict.fromkeys(engine.plan.query.names, _ALL)
        self._gap_s = 0.0
        predicates = close_equalities(engine.plan.query.predicates)
        self._places = {name: Places(name, predicates) for name in engine.plan.query.names}
        if self._shedding.control:
            self._restore(self._shedding.control)
        engine.pacer = self

    def rows(self) -> int:
        """How many rows may be joined now."""
        self._measure()
        if self._now is None or self.control.short:
            return _ALL
        if self._credit_s <= 0:
            return 0
        affordable = min(self._credit_s, self._depth / _PIECES)
        if not self._recent_s or not self._recent_rows:
            return _FEW_ROWS
        return max(_FEW_ROWS, min(_MANY_ROWS, int(affordable * self._recent_rows / self._recent_s)))

    def room(self, stream: str) -> int:
        """How many rows of a stream may wait."""
        return _ALL if self._now is None or self.control.short else self._room[stream]

    def around(self, call: Callable[[], Rows]) -> Rows:
        """The results of a call of the engine, of which only its own time counts."""
        self._read = self._meter()
        results = call()
        self._measure()
        return self._metered(results)

    def _metered(self, results: Rows) -> Rows:
        while True:
            self._read = self._meter()
            batch = next(results, None)
            self._measure()
            if batch is None:
                return
            yield batch

    def tick(self, now_us: int) -> Rows:
        """Time has passed; what waited may go on."""
        now = self._clock.read(now_us)
        if self._now is None:
            self._first = self._began = self._now = now
            self._credit_s = self._depth
        self._gap_s = (now - self._now) / 1e6
        self._give(self._gap_s)
        self._now = now
        if self._now - self._began >= self._budget.settings.interval_us:
            self._read = self._meter()
            self._adapt((self._now - self._began) / 1e6)
            self._began = self._now
            self._charge()  # what it takes to decide is part of the work
        return self.around(lambda: self._engine.tick(now_us))

    @property
    def _depth(self) -> float:
        """What may be saved up: an interval's time, or that between two ticks."""
        return self._share * max(self._budget.settings.interval_us / 1e6, self._gap_s)

    def _give(self, seconds: float) -> None:
        self.given_s += self._share * seconds
        self._credit_s = min(self._depth, self._credit_s + self._share * seconds)

    def _measure(self) -> None:
        """Take the time used since the last reading off what was given; learn what a row takes."""
        spent = self._charge()
        joined = sum(self._engine.joined.values())
        self._recent_s = _MEMORY * self._recent_s + spent
        self._recent_rows = _MEMORY * self._recent_rows + joined - self._rows_before
        self._rows_before = joined

    def _charge(self) -> float:
        read = self._meter()
        spent, self._read = read - self._read, read
        self.used_s += spent
        self._credit_s -= spent
        return spent

    def _readings(self) -> tuple[int, int, float, float, float, int, dict[str, int]]:
        shed, engine = self._shedding, self._engine
        arrived = shed.counts["arrived"]
        welcome = arrived - shed.counts["refused"]  # what the door was told to refuse does not count as not consumed
        consumed = arrived - engine.waiting - sum(shed.dropped.values())
        results = shed.estimate.produced, self._estimate.missed
        return welcome, consumed, *results, self.used_s, shed.counts["compared"], engine.arrived()

    @property
    def _estimate(self) -> Estimate:
        """What is missing for want of CPU and, if that is limited too, of memory; and what waits."""
        engine, found = self._engine, self._shedding.estimate if self._trim is None else self._trim.estimate
        waiting, possible = engine.waiting, float(prod(engine.arrived().values()))
        return replace(found, waiting=waiting, pending=waiting * self._shedding.per_arrival, possible=possible)

    @property
    def _trim(self) -> Trim | None:
        return self._engine.keeper if isinstance(self._engine.keeper, Trim) else None

    def _adapt(self, seconds: float) -> None:
        before, self._before = self._before, self._readings()
        welcome, consumed, produced, missed, used, compared = (
            now - then for now, then in zip(self._before[:6], before[:6], strict=True)
        )
        if self._before[6] == before[6]:
            return
        given = self._share * seconds
        if welcome:
            self.control.throttle.adapt(consumed * min(1.0, given / used) if used > 0 else consumed, welcome)
        else:
            self.control.throttle.adapt(1, 1)  # nothing was let in, so nothing had to wait
        rates = {name: max(count - before[6][name], 0.5) / seconds for name, count in self._before[6].items()}
        completeness = produced / (produced + missed) if produced + missed > 0 else 1.0
        self._speed.add(compared, used)
        self._shedding.follow(self._decide(rates, completeness))
        buffer = self._budget.settings.buffer
        self._room = {name: buffer or max(_ROOM, round(rate * seconds)) for name, rate in rates.items()}
        self._complain()

    def _decide(self, rates: dict[str, float], completeness: float) -> Any:
        shed, orders = self._shedding, self._engine.decision.orders
        edges = {pair: shed.edges(*pair) for pair in permutations(rates, 2)}
        learned = shed.take()
        correlations = self.control.correlations
        correlations.learn(learned, edges, orders, shed.decision.picks)
        algorithms = self._engine.decision.algorithms
        found = {
            name: {
                other: correlations.window(name, other, edges[name, other], algorithms[other] == "scan")
                for other in order
            }
            for name, order in orders.items()
        }
        in_force = cost_of(shed.decision.picks, found, orders, rates)
        before, orders = orders, self._reordered(found, rates)
        windows = {name: self._placed(name, found[name], before[name], order) for name, order in orders.items()}
        assert self._now is not None
        so_far_s = (self._now - self._first) / 1e6
        tuples = {s.name: _full(s.window, rates[s.name], so_far_s) for s in self._engine.plan.query.streams}
        capacity = self._speed.per_second * self._share
        memory = (inf, None) if self._trim is None else (self._trim.limit, self._trim.sizes)
        return self.control.decide(Situation(rates, windows, orders, tuples, capacity, completeness, in_force, *memory))

    def _reordered(self, windows: Windows, rates: Mapping[str, float]) -> Orders:
        """Probe orders for the slices to come; while everything is looked through they are the planner's."""
        decision, z = self._engine.decision, self.control.throttle.z
        orders = decision.orders
        if self._budget.policy != "drop" and z < 1 and len(rates) > 2:
            budget = z * cost_of(None, windows, orders, rates)
            steps = {name: {other: seen.step for other, seen in each.items()} for name, each in windows.items()}
            orders = {
                name: best_order(steps[name], order, self._places[name], rates[name], budget)
                for name, order in orders.items()
            }
        if orders != decision.orders:
            self._engine.replan(replace(decision, orders=orders, version=decision.version + 1))
        return orders

    def _placed(self, name: str, windows: Mapping[str, Seen], before: Order, order: Order) -> list[Seen]:
        """The windows in an order, as they may be expected to match there."""
        return [windows[other].with_matches(self._places[name].factor(other, before, order)) for other in order]

    def _complain(self) -> None:
        if self.control.short and self._budget.strict:
            least = f"{self._budget.min_completeness:g} of its results"
            raise BudgetError(
                f"the join cannot keep {least} with {self._share:g} of a core; give it more CPU, ask for less, "
                "or leave out strict=True to go on beyond the budget"
            )

    def save(self) -> None:
        """Leave all that must be known to go on in the engine's state."""
        clock = {
            "now": self._now,
            "clock": self._clock.last,
            "first": self._first,
            "began": self._began,
            "credit_s": self._credit_s,
            "room": self._room,
        }
        used = {"given_s": self.given_s, "used_s": self.used_s, "speed": self._speed.state, "before": self._before}
        used["recent"] = self._recent_s, self._recent_rows
        self._shedding.control = {"load": self.control.to_json(), **clock, **used}

    def _restore(self, saved: Mapping[str, Any]) -> None:
        self.control.restore(saved["load"])
        self._now, self._credit_s = saved["now"], saved["credit_s"]
        self._clock = Elapsed(self._now or 0, saved.get("clock", self._now))
        self._first, self._began = saved["first"], saved["began"]
        self.given_s, self.used_s, self._room = saved["given_s"], saved["used_s"], dict(saved["room"])
        self._speed.state = tuple(saved["speed"])
        self._before = tuple(saved["before"])
        self._recent_s, self._recent_rows = saved["recent"]

    def metrics(self) -> dict[str, Any]:
        """What was given and used, what is left out, what is missing."""
        times = {"cpu": self._share, "given_s": self.given_s, "used_s": self.used_s, "short": self.control.short}
        histograms = self.control.correlations.to_json()["histograms"]
        return times | budget_report(self._shedding.to_json(), self._estimate.report()) | {"histograms": histograms}


class _Speed:
    """Comparisons per CPU second, of late."""

    def __init__(self) -> None:
        self.state = 0.0, 0.0

    def add(self, compared: float, used_s: float) -> None:
        """So much was done in so much time."""
        before_compared, before_used = self.state
        self.state = _RECENT * before_compared + compared, _RECENT * before_used + used_s

    @property
    def per_second(self) -> float:
        return self.state[0] / self.state[1] if self.state[1] > 0 else inf


def _full(window: Window | None, rate: float, so_far_s: float) -> float:
    """How many tuples a window holds if none is dropped, so long after the beginning."""
    if isinstance(window, TimeWindow):
        return rate * min(window.length_us / 1e6, so_far_s)
    return min(float(window.count if window else 0), rate * so_far_s)
