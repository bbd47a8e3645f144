import numpy as np
import pyarrow as pa
import pytest

from dovetail.testing import Close, Feed, Push, Trace, correlated_values, interleave, random_stream, wisconsin
from dovetail.testing.arrivals import constant, fluctuating, pareto_bursts, poisson

UNTIDY = Feed(rate=200, disorder=1.0, lag=3.0, drift=0.1, ties=0.2, duplicates=0.2, null_keys=0.1, nan_values=0.1)


def micros(trace: Trace) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    times: np.ndarray[tuple[int], np.dtype[np.int64]] = trace.rows["ts"].cast(pa.int64()).to_numpy()
    return times


def test_the_same_seed_gives_the_same_stream() -> None:
    one, again, other = (random_stream(UNTIDY, 5, seed).rows["ts"] for seed in (1, 1, 2))
    assert one.equals(again)
    assert not one.equals(other)


@pytest.mark.parametrize("seed", range(5))
def test_disorder_stays_within_what_was_asked(seed: int) -> None:
    times = micros(random_stream(UNTIDY, 10, seed))
    behind = np.maximum.accumulate(times) - times
    assert 500_000 < behind.max() <= 1_000_000


def test_untidiness_is_there() -> None:
    trace = random_stream(UNTIDY, 20, seed=1)
    times, rows = micros(trace), trace.rows
    assert 0.05 < rows["key"].null_count / rows.num_rows < 0.15
    assert 0.05 < np.isnan(rows["value"].to_numpy()).mean() < 0.15
    assert 0.2 < (np.diff(times) == 0).mean() < 0.5
    assert rows["value"].null_count == 0
    lag = (trace.arrival_us - times) / 1e6
    assert 3.0 <= lag[:100].mean() < lag[-100:].mean() < 6.1


def test_interleaving_keeps_every_row_in_order() -> None:
    traces = {name: random_stream(UNTIDY, 3, seed) for seed, name in enumerate("ABC")}
    for every in (0.0, 0.5):
        *pushes, end = interleave(traces, every)
        assert end == Close()
        for name, trace in traces.items():
            batches = [event.batch[name] for event in pushes if isinstance(event, Push) and name in event.batch]
            assert pa.concat_tables(batches).to_pydict()["ts"] == trace.rows.to_pydict()["ts"]
    assert len(interleave(traces, 0.5)) == 7


def test_rates() -> None:
    assert np.diff(constant(rate=10, seconds=5)).tolist() == [100_000] * 48
    for seed in range(3):
        assert 9_500 < len(poisson(rate=100, seconds=100, seed=seed)) < 10_500
        assert 8_000 < len(pareto_bursts(rate=100, seconds=100, seed=seed, burst=2)) < 13_000
        assert np.all(np.diff(pareto_bursts(rate=100, seconds=10, seed=seed, burst=5)) >= 0)
        assert np.all(np.diff(fluctuating([5, 50], period=1.5, seconds=10, seed=seed)) >= 0)


def test_poisson_gaps_are_exponential() -> None:
    gaps = np.diff(poisson(rate=100, seconds=200, seed=5))
    assert gaps.std() / gaps.mean() == pytest.approx(1.0, abs=0.05)
    assert (gaps > gaps.mean()).mean() == pytest.approx(np.exp(-1), abs=0.02)


def test_bursts_come_at_one_instant_and_some_are_very_large() -> None:
    _, sizes = np.unique(pareto_bursts(rate=100, seconds=1000, seed=2, burst=3), return_counts=True)
    assert sizes.mean() == pytest.approx(3, rel=0.25)
    assert sizes.max() > 30 * sizes.mean(), "of infinite variance: shape 1.5"
    assert np.array_equal(pareto_bursts(rate=100, seconds=10, seed=2, burst=1), poisson(100, 10, 2))


def test_fluctuating_rates_go_round() -> None:
    times = fluctuating([20, 200, 50], period=10, seconds=60, seed=1)
    counts = np.histogram(times, 6, (0, 60_000_000))[0]
    assert counts == pytest.approx([200, 2000, 500] * 2, rel=0.25)


def test_correlated_streams_repeat_and_stay_in_their_domain() -> None:
    times = constant(rate=100, seconds=60)
    still = correlated_values(times, lag=0, deviation=0, seed=1)
    shifted = correlated_values(times, lag=5, deviation=0, seed=1)
    assert np.allclose(still[500:1000], shifted[:500])
    noisy = correlated_values(times, lag=5, deviation=50, seed=1)
    assert 0 <= noisy.min() < noisy.max() < 1000


def test_wisconsin_values_occur_equally_often() -> None:
    table = wisconsin(10_000, {"unique": 10_000, "thousand": 1_000}, seed=4)
    assert set(np.bincount(table["thousand"].to_numpy())) == {10}
    assert np.any(np.diff(table["unique"].to_numpy()) != 1)
    with pytest.raises(ValueError, match="equally often"):
        wisconsin(10, {"three": 3}, seed=4)
