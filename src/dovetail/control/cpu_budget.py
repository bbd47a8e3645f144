"""A CPU budget at run time: time given by ``tick``, time used by the engine, and a decision at every interval's end.

    tick(now)    more time is given (``CpuTime``)
    decide       what the time given allows may be joined next; the rest waits at the gate
    interval     arrived and consumed -> throttle -> what to leave out; the engine follows from the next piece on

Before the first tick no time is known to pass, and nothing waits. Example, cpu=0.5 and an interval of 1 s: a second
later, 0.5 s of work may be done; a piece that takes 0.6 s leaves a debt of 0.1 s, to be paid by the next tick.

Where batches may be repeated, all of that is between ``begin_batch`` and ``end_batch``. Inside, rows and comparisons
are taken to cost what they have cost before, and what to leave out is decided at the end, for the next batch: so how
far a batch goes follows from its rows and from the state before it, and one that is repeated goes as far, however long
it takes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf
from typing import Any

from dovetail.control.correlations import Window as Seen
from dovetail.control.cpu_time import CpuTime
from dovetail.control.current_cost import cost_of
from dovetail.control.harvest_order import best_order
from dovetail.control.probe_positions import Order, Places
from dovetail.control.row_price import UNKNOWN_S, RowPrice
from dovetail.control.shed_load import ShedLoad, Situation
from dovetail.control.spare_capacity import Interval, RowCosts, Supply, growth
from dovetail.engine.buffer.header import finite, finite_all
from dovetail.engine.operator.readings import Readings
from dovetail.engine.policies.shed.estimate import Estimate
from dovetail.engine.policies.shed.shedding import Shedding
from dovetail.errors import BudgetError
from dovetail.model.budget import Budget
from dovetail.model.decision import Decision, Pace
from dovetail.model.query import JoinQuery
from dovetail.model.shedding import Shed
from dovetail.model.window import TimeWindow, Window, length_s
from dovetail.observe.budget_report import budget_report
from dovetail.plan.join_graph import close_equalities

_ENDLESS = 1 << 60  # rows of a stream that may wait before the first interval has shown its rate
_FEW_ROWS, _MANY_ROWS = 16, 1 << 14  # few: what a call costs is shared by some; many: control looks often
_ROOM = 1024  # rows: a quiet stream may still send a batch
_PIECES = 20  # an interval's work is cut into at least so many, lest one takes more than is left
_RECENT = 0.5  # half of what it knew before: it follows within a few intervals
_MEMORY = 0.98  # the last fifty calls count, so that one slow call does not

Orders = Mapping[str, Order]
Windows = Mapping[str, Mapping[str, Seen]]
# welcome and consumed tuples, results made and missed, seconds used, comparisons, rows arrived by stream
Counters = tuple[float, float, float, float, float, int, dict[str, int]]


@dataclass
class _Batch:
    """What a batch has taken so far, what that was expected to take, its rows, its comparisons and all before them."""

    spent_s: float = 0.0
    expected_s: float = 0.0
    rows: int = 0
    compared: int = 0
    compared_before: int = 0


class CpuBudget:
    """The CPU budget of one operator; ``meter`` tells the CPU seconds used so far, ours and others'."""

    def __init__(self, query: JoinQuery, budget: Budget, meter: Callable[[], float]) -> None:
        assert budget.cpu is not None
        self._query, self._budget = query, budget
        self.control = ShedLoad(query.names, budget)
        self.time = CpuTime(min(1.0, budget.cpu), budget.settings.interval_us, meter)
        self._before: Counters = 0, 0, 0.0, 0.0, 0.0, 0, dict.fromkeys(query.names, 0)
        self._price, self._speed, self._row_costs = RowPrice(), _Speed(), RowCosts()
        self._rows_before = 0
        self._room: dict[str, int] | None = None
        self._event_us: int | None = None
        self._rates: dict[str, float] | None = None
        self._batch: _Batch | None = None
        predicates = close_equalities(query.predicates)
        self._places = {name: Places(name, predicates) for name in query.names}

    def begin(self) -> None:
        """Time from here on is the operator's."""
        self.time.begin()

    def decide(self, readings: Readings, decision: Decision) -> Decision:
        """The decision with the pace that the time left allows; what was used since ``begin`` is taken off it."""
        self._follow(decision)
        self._measure(readings)
        pace = self._pace()
        return decision if pace == decision.pace else replace(decision, pace=pace)

    def _follow(self, decision: Decision) -> None:
        """It has its part of what the query has, and a core at most."""
        assert self._budget.cpu is not None
        self.time.share = min(1.0, self._budget.cpu * decision.load)

    def _pace(self) -> Pace | None:
        if self.time.now is None or self.control.short:
            return None
        return Pace(self._joinable(), self._room or dict.fromkeys(self._query.names, _ENDLESS))

    def _joinable(self) -> int:
        """How many rows may be joined now."""
        if self.time.credit_s <= 0:
            return 0
        affordable = min(self.time.credit_s, self.time.depth / _PIECES)
        each_s = self._price.each_s or (UNKNOWN_S if self._batch is not None else 0.0)
        return max(_FEW_ROWS, min(_MANY_ROWS, int(affordable / each_s))) if each_s else _FEW_ROWS

    def begin_batch(self, readings: Readings) -> None:
        """A batch begins that may have to be repeated."""
        self._batch = _Batch(compared_before=_shedding(readings).counts["compared"])

    def end_batch(self, readings: Readings, decision: Decision) -> Decision:
        """It has taken what it has taken; at the end of an interval, what to leave out from the next batch on."""
        batch = self._batch
        assert batch is not None, "it was begun"
        self.time.spend(batch.spent_s - batch.expected_s)
        if batch.rows:
            self._price.learn(batch.spent_s, batch.rows, batch.compared, _RECENT)
        if self.time.now is not None and self.time.so_far_s:
            decision = self._interval_ended(readings, decision)
        elif self.time.now is not None:
            self._before = self._counters(readings)  # the first batch has come before any time has passed
        self._batch = None
        return decision

    def tick(self, now_us: int, readings: Readings, decision: Decision) -> Decision:
        """Time has passed: more may be joined, and at the end of an interval what to leave out is decided anew."""
        self._follow(decision)
        self.time.tick(now_us)
        if self._batch is None:
            decision = self._interval_ended(readings, decision)
        return replace(decision, pace=self._pace())

    def _interval_ended(self, readings: Readings, decision: Decision) -> Decision:
        """The decision with what to leave out from now on, if an interval is over."""
        seconds = self.time.interval_s()
        if seconds is not None:
            self.time.begin()
            decision = self._adapt(seconds, readings, decision)
            self.time.spend(self.time.measure())  # what it takes to decide is part of the work
        return decision

    def _measure(self, readings: Readings) -> None:
        """Take the time used since the last reading off what was given; learn what a row takes."""
        spent = self.time.measure()
        joined = sum(readings.joined().values())
        rows, self._rows_before = joined - self._rows_before, joined
        if self._batch is None:
            self.time.spend(spent)
            self._price.learn(spent, rows, 0, _MEMORY)
            return
        batch = self._batch
        compared = _shedding(readings).counts["compared"] - batch.compared_before - batch.compared
        expected = self._price.of(rows, compared, self._row_costs.row_s)
        self.time.spend(expected)
        batch.spent_s += spent
        batch.expected_s += expected
        batch.rows += rows
        batch.compared += compared

    def _counters(self, readings: Readings) -> Counters:
        shed = _shedding(readings)
        arrived = shed.counts["arrived"]
        welcome = arrived - shed.counts["refused"]  # what the door was told to refuse does not count as not consumed
        consumed = arrived - readings.waiting - sum(shed.dropped.values())
        missed = self._estimate(readings).missed
        compared = shed.counts["compared"]
        return welcome, consumed, shed.estimate.produced, missed, self.time.used_s, compared, readings.arrived()

    def _estimate(self, readings: Readings) -> Estimate:
        """What is missing for want of CPU and, if that is limited too, of memory; and what waits."""
        found, memory = readings.estimate, readings.trimmed
        return found if memory is None else replace(memory.estimate_of(found), possible=found.possible)

    def _adapt(self, seconds: float, readings: Readings, decision: Decision) -> Decision:
        before, self._before = self._before, self._counters(readings)
        welcome, consumed, produced, missed, used, compared = (
            now - then for now, then in zip(self._before[:6], before[:6], strict=True)
        )
        if self._before[6] == before[6]:
            return decision
        interval = self._interval(seconds, (welcome, consumed, used), readings.waiting)
        if self._budget.settings.throttle == "paper" and welcome:
            in_time = min(1.0, interval.given_s / used) if used > 0 else 1.0
            self.control.throttle.adapt(consumed * in_time, welcome)
        elif self._budget.settings.throttle == "paper":
            self.control.throttle.adapt(1, 1)  # nothing was let in, so nothing had to wait
        rates = {name: max(count - before[6][name], 0.5) / seconds for name, count in self._before[6].items()}
        completeness = produced / (produced + missed) if produced + missed > 0 else 1.0
        self._speed.add(compared, used)
        self._row_costs.add(consumed, compared, used)
        decision = self._shed(rates, completeness, interval, readings, decision)
        buffer = self._budget.settings.buffer
        self._room = {name: buffer or max(_ROOM, round(rate * seconds)) for name, rate in rates.items()}
        self._complain()
        return decision

    def _interval(self, seconds: float, counted: tuple[float, float, float], waiting: int) -> Interval:
        """The interval that ends; where nothing was joined for want of time, a tuple takes what it took before."""
        welcome, consumed, used = counted
        taken = (used, consumed) if consumed > 0 else (self._price.seconds, self._price.rows)
        return Interval(seconds, self.time.share * seconds, taken[0], welcome, taken[1], waiting)

    def _shed(
        self,
        rates: dict[str, float],
        completeness: float,
        interval: Interval,
        readings: Readings,
        decision: Decision,
    ) -> Decision:
        """The decision with what to leave out, and with probe orders for the slices that are left."""
        shed, orders = _shedding(readings), decision.orders
        edges = {pair: shed.edges(*pair) for pair in permutations(rates, 2)}
        learned = shed.drain()
        correlations = self.control.correlations
        correlations.learn(learned, edges, orders, shed.decision.picks)
        correlations = correlations.together_with(self.control.elsewhere)
        algorithms = decision.algorithms
        found = {
            name: {
                other: correlations.window(name, other, edges[name, other], algorithms[other] == "scan")
                for other in order
            }
            for name, order in orders.items()
        }
        kept = {name: shed.decision.kept.get(name, 1.0) for name in rates}
        let_in = {name: share * rates[name] for name, share in kept.items()}
        in_force = cost_of(shed.decision.picks, found, orders, let_in)
        supply = Supply.of(interval, self._row_costs.row_s, in_force)
        rates = self._to_come(rates)
        coming = {name: share * rates[name] for name, share in kept.items()}
        fuller = self._growing(found, coming, interval.seconds, readings)
        before, orders = orders, self._reordered(found, rates, orders, supply)
        windows = {name: self._placed(name, found[name], before[name], order) for name, order in orders.items()}
        tuples = {s.name: _full(s.window, rates[s.name], self.time.so_far_s) for s in self._query.streams}
        capacity = self._speed.per_second * self.time.share
        memory = (inf, None) if readings.trimmed is None else (readings.trimmed.limit, readings.trimmed.sizes)
        filled = {name: share / fuller[name] for name, share in kept.items()}  # of what the windows are about to hold
        situation = Situation(rates, windows, orders, tuples, capacity, completeness, supply, filled, *memory)
        leave_out: Shed = self.control.decide(situation)
        version = decision.version + (orders != before)
        return replace(decision, orders=orders, version=version, shed=leave_out)

    def _to_come(self, rates: dict[str, float]) -> dict[str, float]:
        """Arrivals of the next interval: as many as of this one, or half as many more than before, for bursts pass."""
        before, self._rates = self._rates or rates, rates
        if self._budget.policy == "drop":
            return rates
        return {name: (rate + before[name]) / 2 if rate > before[name] else rate for name, rate in rates.items()}

    def _growing(
        self, windows: Windows, rates: Mapping[str, float], seconds: float, readings: Readings
    ) -> dict[str, float]:
        """How many times as full windows are about to be: rows may come quicker or slower than their times go on."""
        before, self._event_us = self._event_us, readings.latest
        passed_s = (self._event_us - before) / 1e6 if before is not None else 0.0
        tuples = {other: seen.tuples for each in windows.values() for other, seen in each.items()}
        return {
            s.name: growth(tuples[s.name], length, rates[s.name] * seconds / passed_s, passed_s)
            if (length := length_s(s.window)) and passed_s > 0
            else 1.0
            for s in self._query.streams
        }

    def _reordered(self, windows: Windows, rates: Mapping[str, float], orders: Orders, supply: Supply) -> Orders:
        """Probe orders for the slices to come; while everything is looked through they are the planner's."""
        everything = cost_of(None, windows, orders, rates)
        paper = self._budget.settings.throttle == "paper"
        budget = self.control.throttle.z * everything if paper else supply.work(sum(rates.values()))
        if self._budget.policy != "drop" and budget < everything and len(rates) > 2:
            steps = {name: {other: seen.step for other, seen in each.items()} for name, each in windows.items()}
            orders = {
                name: best_order(steps[name], order, self._places[name], rates[name], budget)
                for name, order in orders.items()
            }
        return orders

    def _placed(self, name: str, windows: Mapping[str, Seen], before: Order, order: Order) -> list[Seen]:
        """The windows in an order, as they may be expected to match there."""
        return [windows[other].with_matches(self._places[name].factor(other, before, order)) for other in order]

    def _complain(self) -> None:
        if self.control.short and self._budget.strict:
            least = f"{self._budget.min_completeness:g} of its results"
            raise BudgetError(
                f"the join cannot keep {least} with {self.time.share:g} of a core; give it more CPU, ask for less, "
                "or leave out strict=True to go on beyond the budget"
            )

    def header(self) -> dict[str, Any]:
        """All that must be known to go on."""
        rows = {"room": self._room, "before": self._before, "recent": self._price.state}
        speeds = {"speed": self._speed.state, "rows": self._row_costs.state}
        return {"load": self.control.to_json(), **self.time.header(), **rows, **speeds}

    def restore(self, saved: Mapping[str, Any], readings: Readings) -> None:
        """Go on from there."""
        self.control.restore(saved["load"])
        self.time.restore(saved)
        room, names = saved["room"], self._query.names
        self._room = {name: int(finite(room[name], least=0)) for name in names} if room else None
        compared, used_s = finite_all(saved["speed"], 2, least=0)
        self._speed.state = compared, used_s
        self._row_costs.state = finite_all(saved.get("rows", self._row_costs.state), len(self._row_costs.state))
        *counters, arrived = saved["before"]
        welcome, consumed, produced, missed, used, compared = finite_all(counters, 6)
        came = {name: int(finite(arrived[name])) for name in names}
        self._before = welcome, consumed, produced, missed, used, int(compared), came
        self._price.restore(saved["recent"])
        self._rows_before = sum(readings.joined().values())

    def metrics(self, readings: Readings) -> dict[str, Any]:
        """What was given and used, what is left out, what is missing."""
        shed = _shedding(readings)
        times = {
            "cpu": self.time.share,
            "given_s": self.time.given_s,
            "used_s": self.time.used_s,
            "short": self.control.short,
        }
        histograms = self.control.correlations.to_json()["histograms"]
        account = shed.header() | {"decision": shed.decision.to_json()}
        return times | budget_report(account, self._estimate(readings).report()) | {"histograms": histograms}


def _shedding(readings: Readings) -> Shedding:
    shedding = readings.shedding
    assert shedding is not None, "an operator with a CPU budget sheds"
    return shedding


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
