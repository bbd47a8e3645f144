"""What a running engine knows about its streams, against what is true of them."""

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from dovetail.model.statistics import Statistics
from dovetail.runtime.wall_stopwatch import WallStopwatch

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "j": pa.int64()})
RANDOM = np.random.default_rng(7)


def rows(start_s: float, seconds: float, rate: int, keys: int) -> pa.Table:
    count = int(seconds * rate)
    times = (start_s * 1e6 + np.arange(count) * (1e6 / rate)).astype(np.int64)
    columns = [pa.array(times).cast(pa.timestamp("us")), RANDOM.integers(0, keys, count), RANDOM.integers(0, 4, count)]
    return pa.table(dict(zip(SCHEMA.names, columns, strict=True)))


def engine(names: str, on: str, window: str = "2 seconds") -> Engine:
    streams = [dv.stream(name, time="ts", window=window, schema=SCHEMA) for name in names]
    return Engine(dv.join(*streams, on=on).plan, WallStopwatch())


def play(join: Engine, seconds: range, rates: dict[str, int], keys: int, step: float = 0.5) -> Statistics:
    for at in range(int(seconds.start / step), int(seconds.stop / step)):
        for name, rate in rates.items():
            for _ in join.push({name: rows(at * step, step, rate, keys)}):
                pass
    return join.line.observed.statistics()


def test_rates_windows_keys_selectivities_and_output() -> None:
    known = play(engine("AB", "A.k = B.k"), range(12), {"A": 2000, "B": 200}, 50)
    assert known.streams["A"].rate == pytest.approx(2000, rel=0.1)
    assert known.streams["B"].rate == pytest.approx(200, rel=0.1)
    assert known.streams["A"].tuples == pytest.approx(4000, rel=0.3)
    assert known.streams["A"].block == pytest.approx(1000, rel=0.01)
    assert known.keys["A.k"] == pytest.approx(50, rel=0.05)
    for tie in ((frozenset("A"), "B"), (frozenset("B"), "A")):
        assert known.selectivities[tie] == pytest.approx(1 / 50, rel=0.4)
    assert known.output_rate == pytest.approx(2000 * 200 * 4 / 50, rel=0.1)


def test_costs_are_told_apart() -> None:
    known = play(engine("AB", "A.k = B.k"), range(8), {"A": 1000, "B": 1000}, 10)
    for cost in known.costs.values():
        assert cost.insert_s > 0
        assert cost.probe_s > 0
        assert cost.expiry_s > 0
    assert known.busy == pytest.approx(sum(1000 * cost.total_s for cost in known.costs.values()), rel=0.1)


def test_rates_that_swap_and_keys_that_collapse_are_followed_within_seconds() -> None:
    join = engine("AB", "A.k = B.k")
    before = play(join, range(8), {"A": 2000, "B": 100}, 1000)
    assert before.streams["A"].rate > 10 * before.streams["B"].rate
    after = play(join, range(8, 20), {"A": 100, "B": 2000}, 3)
    assert after.streams["B"].rate > 5 * after.streams["A"].rate
    assert after.keys["A.k"] == pytest.approx(3, abs=1)
    assert after.selectivities[frozenset("A"), "B"] == pytest.approx(1 / 3, rel=0.4)


def test_a_silent_stream_has_no_rate_and_divides_nothing() -> None:
    known = play(engine("ABC", "A.k = B.k AND B.j = C.j"), range(8), {"A": 500, "B": 500}, 10)
    assert known.streams["C"].rate == 0
    assert known.streams["C"].tuples == 0
    assert known.streams["A"].rate == pytest.approx(500, rel=0.1)


def test_an_engine_that_has_seen_nothing_has_been_watching_for_no_time() -> None:
    known = engine("AB", "A.k = B.k").line.observed.statistics()
    assert known.seen_s == 0
    assert [stream.rate for stream in known.streams.values()] == [0, 0]


def test_the_step_of_a_longer_probe_is_named_by_all_that_it_starts_from() -> None:
    known = play(
        engine("ABC", "A.k = B.k AND B.j = C.j AND A.j = C.k", "1 second"), range(3), dict.fromkeys("ABC", 200), 4
    )
    assert (frozenset("AB"), "C") in known.selectivities
    assert known.fanouts[frozenset("A"), "B"] == pytest.approx(200 / 4, rel=0.6)
