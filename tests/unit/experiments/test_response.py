"""Response times on the simulated clock: against the results that really leave, and by hand."""

import pytest

import dovetail as dv
from dovetail.testing.simulate import Log
from experiments.order_model import Workload, hold_response, sync_response
from experiments.response import (
    Order,
    Streams,
    Turn,
    arrival,
    clocked,
    exponential_arrivals,
    mean_response,
    play,
    responses,
    steady_response,
)

STREAMS = Streams(10, slow=1, fast=5, seconds=40)
ORDERS = pytest.mark.parametrize("order", ["sync", "hold", dv.adaptive(0.1)], ids=str)


def played(order: Order, compare_s: float) -> Log:
    return play(STREAMS, order, compare_s, exponential_arrivals(STREAMS))


def moments(turns: list[Turn]) -> list[float]:
    return [turn.at for turn in turns] + [end for turn in turns for _, _, end in turn.ended]


@ORDERS
def test_a_tuple_is_complete_when_its_last_result_leaves(order: Order) -> None:
    log = played(order, 0.002)
    came = {seen.arrival.row["ts"]: seen.arrival.at for seen in log.seen}
    left: dict[int, float] = {}
    for result in log.released:
        newest = max(result.row[side].timestamp() for side in "st")
        left[round(newest * 1e6)] = result.at
    found = [round(each.seconds, 6) for each in responses(clocked(log, 1.0))]
    shown = {round(at - came[time], 6) for time, at in left.items()}
    assert len(shown) > 5
    assert shown <= set(found)


@pytest.mark.parametrize("order", ["sync", "hold"])
def test_one_playing_serves_every_cost(order: str) -> None:
    slow, quick = played(order, 0.004), played(order, 0.001)
    assert moments(list(clocked(quick, 4.0))) == pytest.approx(moments(list(clocked(slow, 1.0))))


@ORDERS
def test_the_clock_of_the_run_comes_out_again(order: Order) -> None:
    log = played(order, 0.003)
    turns = list(clocked(log, 1.0))
    assert [turn.at for turn in turns] == pytest.approx([seen.at for seen in log.seen])
    assert [end for turn in turns for *_, end in turn.ended] == pytest.approx([work.ended for work in log.processed])


def test_waiting_at_the_door_adds_the_joining() -> None:
    arrivals = [arrival(1.0, "S"), arrival(1.2, "T"), arrival(1.4, "T"), arrival(2.0, "S"), arrival(2.5, "T")]
    sync, hold = (
        [each.seconds for each in responses(clocked(play(STREAMS, order, 0.1, arrivals), 1.0))]
        for order in ("sync", "hold")
    )
    # S 1.0 may leave at 1.2; T 1.2 and T 1.4 at 2.0, and if they waited at the door their joining comes on top;
    # S 2.0 may leave at 2.5, compared with two tuples
    assert sync == pytest.approx([0.2, 0.9, 0.8, 0.7])
    assert hold == pytest.approx([0.2, 0.8, 0.6, 0.5])


def test_waiting_at_the_exit_is_quicker() -> None:
    assert mean_response(STREAMS, "hold", 0.004) < mean_response(STREAMS, "sync", 0.004)


def test_in_the_formulas_own_case_the_seconds_are_the_formulas() -> None:
    streams = Streams(20, slow=1, fast=10, seconds=100, regular=True)
    load = Workload(0.0015, 20, 1, 10)
    assert steady_response(streams, "sync", 0.0015, of="T") == pytest.approx(sync_response(load), rel=0.01)
    assert steady_response(streams, "hold", 0.0015, of="T") == pytest.approx(hold_response(load), rel=0.01)
