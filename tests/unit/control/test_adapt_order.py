"""Where the adaptive order waits: on a simulated clock, at the paper's rates, window and alpha."""

from collections.abc import Callable

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.control.adapt_order import AdaptOrder
from dovetail.runtime.local import Run
from dovetail.testing import assert_same_rows, ordered
from dovetail.testing.simulate import Arrival, Log, simulate

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
SLOW, FAST = 1, 10  # tuples per second
SECONDS = 160


def query(order: str | dv.Adaptive) -> dv.Query:
    s, t = (dv.stream(name, time="ts", window="60 seconds", schema=SCHEMA) for name in "ST")
    return dv.join(s, t, on="S.k = T.k", select="S.ts AS s, T.ts AS t", order=order)


def arrivals() -> list[Arrival]:
    """Both regular; the streams are not in step, and keys meet now and then."""
    times = [("S", (n + 0.35) / SLOW) for n in range(SLOW * SECONDS)] + [("T", n / FAST) for n in range(FAST * SECONDS)]
    return [Arrival(at, name, {"ts": int(at * 1e6), "k": int(at * 7) % 50}) for name, at in times]


def comparing(cost_s: Callable[[float], float]) -> Callable[[str, Run], float]:
    """Service: so much per tuple of the other window, as in nested loops."""

    def service(stream: str, run: Run) -> float:
        streams = run.metrics()["streams"]
        other = streams["T" if stream == "S" else "S"]
        return cost_s(streams["T"]["watermark"] / 1e6) * float(other["stored"])

    return service


def run(order: str | dv.Adaptive, cost_s: Callable[[float], float]) -> Log:
    return simulate(query(order), arrivals(), comparing(cost_s))


def table(log: Log) -> pa.Table:
    return pa.Table.from_pylist([dict(result.row) for result in log.released], query("hold").schema)


@pytest.mark.parametrize(("cost_ms", "mode"), [(0.1, "sync"), (0.47, "sync"), (0.53, "hold"), (0.8, "hold")])
def test_it_switches_at_half_a_millisecond(cost_ms: float, mode: str) -> None:
    """The product c w l1 l2 is 0.3 at c = 0.5 ms, w = 60 s, rates 1 and 10."""
    assert run(dv.adaptive(alpha=0.3), lambda _: cost_ms / 1000).modes[-1][1] == mode


def test_it_goes_back_and_the_output_is_that_of_both_others() -> None:
    def cost_s(now: float) -> float:
        return 0.0007 if now < 90 else 0.0001

    adaptive, sync, hold = (run(order, cost_s) for order in (dv.adaptive(0.3), "sync", "hold"))
    assert [mode for _, mode in adaptive.modes] == ["sync", "hold", "sync"]
    common = min(table(log).num_rows for log in (adaptive, sync, hold))
    for log in (adaptive, sync, hold):
        assert ordered(table(log))
        assert_same_rows(table(log).slice(0, common - 5), table(hold).slice(0, common - 5))


def test_the_gain_is_the_papers_product() -> None:
    control = AdaptOrder(alpha=0.299)
    for _ in range(600):
        control.observe(1.0, {"S": 1, "T": 10}, {"S": 0.0005 * 600, "T": 0.0005 * 60 * 10}, {"S": 1, "T": 10})
    assert control.gain == pytest.approx(0.0005 * 60 * 1 * 10)
    assert control.decide() == "hold"


def test_without_data_it_waits_at_the_door() -> None:
    assert AdaptOrder(0.0).gain == 0.0
    assert AdaptOrder(0.3).decide() == "sync"


def test_three_streams_add_up_all_but_the_slowest() -> None:
    control = AdaptOrder(0.3)
    control.observe(10.0, {"A": 10, "B": 50, "C": 100}, {"A": 9.0, "B": 1.0, "C": 1.0}, {"A": 10, "B": 50, "C": 100})
    assert control.gain == pytest.approx(5 * 0.02 + 10 * 0.01)


def test_it_leaves_the_exit_only_where_the_estimate_is_clearly_below_alpha() -> None:
    control = AdaptOrder(0.3)
    decided = []
    for busy in (0.29, 0.31, 0.29, 0.2, 0.18, 0.25, 0.3):
        control.seen_s, control.arrived = 1.0, {"S": 1.0, "T": 10.0}
        control.busy_s, control.joined = {"T": busy}, {"T": 10.0}
        decided.append(control.decide())
    assert decided == ["sync", "hold", "hold", "hold", "sync", "sync", "hold"]
    resumed = AdaptOrder(0.3)
    resumed.restore(control.to_json())
    resumed.busy_s = {"T": 0.2}
    assert resumed.decide() == "hold"
