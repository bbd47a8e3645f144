"""A join with too little CPU on a simulated clock: what it is charged for, and what it leaves out."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from experiments.overload import Arranged, Load, Served, grub_rows, near_query, served, steps


def load(rate: float, policy: object, **options: Any) -> Load:
    streams = {f"S{place + 1}": grub_rows(place, (rate,), 30.0, 30.0, 0.0, 2.0) for place in range(2)}
    budget = dv.budget(cpu=1.0, policy=policy)  # type: ignore[arg-type]
    return Load(streams, near_query(("S1", "S2"), 10.0, budget), seconds=30.0, warm_s=10.0, step_s=0.5, **options)


def run(rate: float, capacity: float, **options: Any) -> Served:
    return served(load(rate, dv.harvest(interval="2 seconds", slice="1 second"), **options), capacity)


def test_with_enough_nothing_is_left_out() -> None:
    found = run(20.0, 1e15)
    assert found.dropped == 0
    assert set(found.throttles) == {1.0}
    assert found.compared == pytest.approx(2 * 20 * 200, rel=0.15), "each arrival looks at a window of ten seconds"


def test_with_too_little_it_compares_what_it_may_and_keeps_the_results_near_in_time() -> None:
    whole = run(40.0, 1e15)
    part = run(40.0, whole.compared / 3)
    assert part.compared < 0.5 * whole.compared
    assert part.throttles[-1] < 0.7
    assert part.results > 0.6 * whole.results, "aligned streams: results lie in the youngest slices"


def test_dearer_comparisons_are_less_capacity() -> None:
    assert run(20.0, 8000.0, dearer=4.0).throttles == run(20.0, 2000.0).throttles


def test_streams_have_their_rates_and_share_no_moment() -> None:
    rows = grub_rows(1, (10.0, 20.0), 5.0, 10.0, 0.0, 0.0)
    times = rows["ts"].cast(pa.int64()).to_numpy()
    assert [int(((times >= low) & (times < low + 5e6)).sum()) for low in (0, 5e6)] == [50, 100]
    assert (np.diff(times) > 0).all()
    assert set(times % 10) == {1}


def test_every_row_comes_in_once() -> None:
    streams = {"S1": grub_rows(0, (10.0,), 5.0, 5.0, 0.0, 2.0)}
    assert sum(batch["S1"].num_rows for _, batch in steps(streams, 5.0, 0.5) if batch) == 50


def test_an_imposed_throttle_stays_whatever_there_is_to_do() -> None:
    assert set(run(20.0, 1e15, imposed=0.4).throttles[4:]) == {0.4}


def test_the_throttle_can_be_opened_and_finds_its_way_again() -> None:
    found = run(40.0, run(40.0, 1e15).compared / 3, opened_s=20.0)
    before, after = (found.throttles[found.moments.index(at)] for at in (19.5, 20.0))
    assert before < after == 1.0 > found.throttles[-1]


def test_fixed_probe_orders_stay() -> None:
    streams = {f"S{place + 1}": grub_rows(place, (20.0,), 30.0, 30.0, 0.0, 2.0) for place in range(3)}
    query = near_query(tuple(streams), 10.0, dv.budget(cpu=1.0, policy="harvest"))
    orders = {"S1": ("S3", "S2"), "S2": ("S3", "S1"), "S3": ("S2", "S1")}
    metered = Arranged(Load(streams, query, seconds=30.0, warm_s=10.0, step_s=0.5, orders=orders), 2000.0)
    for now_s, batches in steps(streams, 30.0, 0.5):
        metered.step(batches, round(now_s * 1e6))
    assert metered.throttle < 1
    (readings,) = metered.run.operator.statistics()
    assert readings.decision.orders == orders
