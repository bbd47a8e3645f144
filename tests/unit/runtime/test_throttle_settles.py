"""The throttle on a simulated clock under loads that step, rise, swing and burst: how soon it settles, how far it goes.

Windows are a second long and so is an interval; the machine can just do the whole join at 60 tuples/s per stream.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import Overloaded
from dovetail.testing.metered import MeteredRun
from dovetail.testing.overload import played
from dovetail.testing.streams import correlated_values

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
CAPACITY = 7200.0  # comparisons per second: 60 arrivals of each stream that meet 60 tuples of the other
STEP = 0.1

Load = Callable[[float], float]


def rows(rate: Load, seconds: float, lag: float, place: int) -> pa.Table:
    """Arrivals so many per second, which may change with time."""
    times, now = [], 0.0
    while now < seconds:
        times.append(now)
        now += 1 / rate(now)
    at = np.round(np.array(times) * 1e6).astype(np.int64) + place
    return pa.table([pa.array(at).cast(pa.timestamp("us")), correlated_values(at, lag, 2.0, place)], schema=SCHEMA)


def join(rule: str) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="1 second", schema=SCHEMA) for name in "AB"]
    every = dv.harvest(interval="1 second")
    dropping = dv.Budget(cpu=1.0, policy="drop", settings=every)
    budget = dropping if rule == "drop" else dv.budget(cpu=1.0, policy=replace(every, throttle=rule))  # type: ignore[arg-type]
    return dv.join(*streams, on="ABS(A.x - B.x) <= 1", select="A.ts AS at", algorithm="scan", budget=budget)


def run(
    rate: Load, seconds: float = 30.0, rule: str = "spare", capacity: float = CAPACITY, row: float = 0.0
) -> Overloaded:
    streams = {name: rows(rate, seconds, 0.5 * place, place) for place, name in enumerate("AB")}
    return played(MeteredRun(join(rule), capacity, row=row), streams, STEP, seconds)


def throttle(log: Overloaded, second: float) -> float:
    """In force at that time."""
    return log.throttles[round(second / STEP) - 1]


def made_after(log: Overloaded, second: float) -> int:
    """Results of tuples that came after that time, whenever they were made."""
    return int((log.rows["at"].cast(pa.int64()).to_numpy() >= second * 1e6).sum())


def stepped(before: float, after: float) -> Load:
    return lambda second: before if second < 10.1 else after  # an interval ends a tenth after the full second


@cache
def step(before: float, after: float, rule: str = "spare") -> Overloaded:
    return run(stepped(before, after), rule=rule)


@pytest.mark.parametrize(("before", "after"), [(50.0, 200.0), (100.0, 400.0), (200.0, 50.0), (400.0, 100.0)])
def test_after_a_step_it_settles_within_two_intervals_and_does_not_swing(before: float, after: float) -> None:
    log = step(before, after)
    settled = throttle(log, 30)
    assert settled == pytest.approx(min(1.0, (60 / after) ** 2), rel=0.2)
    late = [throttle(log, 12.2 + 0.1 * tenth) for tenth in range(170)]  # two intervals after the step, and a tenth
    assert min(late) > 0.75 * settled, "it closes no further than it has to"
    assert max(late) < 1.25 * settled, "nor does it open again too far"


def test_the_papers_rule_opens_by_its_boost_alone() -> None:
    log = step(200.0, 50.0, rule="paper")
    assert throttle(log, 12.2) < 0.2
    opened = [throttle(log, second) for second in np.arange(13.0, 20.0)]
    assert np.allclose(np.diff(np.log(opened)), np.log(1.2), atol=0.01)


def test_up_a_ramp_it_is_never_far_behind() -> None:
    def rate(second: float) -> float:
        return 40.0 + 8 * second

    log = run(rate)
    for second in range(8, 30):
        right = min(1.0, (60 / rate(second - 1)) ** 2)  # by the interval before
        assert 0.65 * right < throttle(log, second) < 1.35 * right, second
    assert log.drops[-1] == 0


def test_down_each_side_of_a_saw_tooth_it_is_open_after_an_interval() -> None:
    def rate(second: float) -> float:
        return 30.0 + 20 * (second % 10)

    ours, theirs = (run(rate, rule=rule) for rule in ("spare", "paper"))
    for trough in (11.2, 21.2):
        assert throttle(ours, trough) > 0.8, "open again an interval after the load has fallen"
        assert throttle(theirs, trough) < 0.3
    assert ours.final["results"] > 0.95 * theirs.final["results"]


def test_under_pareto_bursts_it_opens_between_them_and_loses_next_to_nothing() -> None:
    bursts = 20 * (1 + np.random.default_rng(3).pareto(1.1, 41)).clip(0, 15)

    def rate(second: float) -> float:
        return float(bursts[int(second)])

    whole = run(rate, 40.0, capacity=1e12).final["results"]
    found = {rule: run(rate, 40.0, rule) for rule in ("spare", "paper", "drop")}
    kept = {rule: log.final["results"] / whole for rule, log in found.items()}
    assert kept["spare"] > max(kept["paper"], kept["drop"])
    quiet = [at for at in range(4, 40) if bursts[at - 3 : at].max() < 40]
    assert len(quiet) > 5
    assert all(throttle(found["spare"], at) == 1.0 for at in quiet)


@pytest.mark.parametrize("row", [0.0, 100.0])
def test_after_the_load_has_fallen_harvesting_gives_no_less_than_dropping(row: float) -> None:
    """A tuple that is let in may take as long as many comparisons: then tuples have to go, not slices."""

    def rate(second: float) -> float:
        return 300.0 if second < 10.1 else 20.0

    capacity = CAPACITY + 60 * row
    ours, theirs = (run(rate, 25.0, rule, capacity, row) for rule in ("spare", "drop"))
    assert made_after(ours, 13) >= made_after(theirs, 13)
    steady = [made_after(log, 7) - made_after(log, 10) for log in (ours, theirs)]
    assert steady[0] >= 0.85 * steady[1]
