"""What an arrival meets in a window, against counting it."""

import numpy as np
import pytest

from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.plan.in_time import met

RATE = 1000.0


def counted(own_s: float, other_s: float, span_s: float, lead_s: float) -> tuple[float, float, float]:
    """In time, ahead and held, for arrivals all over a block that ends at 0, the other stream having come to lead_s."""
    arrivals = np.linspace(-span_s, 0, 2001)
    newest = lead_s
    fits = np.clip(np.minimum(arrivals + own_s, newest) - (arrivals - other_s), 0, None).mean()
    ahead = np.clip(newest - arrivals - own_s, 0, None).mean()
    return RATE * fits, RATE * ahead, RATE * (other_s + max(0.0, newest + span_s))


@pytest.mark.parametrize("own_s", [0.01, 0.5])
@pytest.mark.parametrize("other_s", [0.02, 1.0])
@pytest.mark.parametrize("span_s", [0.001, 0.1, 2.0])
@pytest.mark.parametrize("lead", [-3.0, -1.0, -0.5, 0.0, 1.0])
def test_blocks_of_any_length_however_far_the_other_stream_has_come(
    own_s: float, other_s: float, span_s: float, lead: float
) -> None:
    block = span_s * RATE + 1
    streams = {
        "A": StreamStatistics(RATE, own_s * RATE, block, window_s=own_s),
        "B": StreamStatistics(RATE, other_s * RATE, block, window_s=other_s),
    }
    found = met(Statistics(streams, leads={("A", "B"): lead * span_s}), "A", "B")
    expected = counted(own_s, other_s, span_s, lead * span_s)
    assert (found.in_time, found.ahead, found.held) == pytest.approx(expected, rel=0.01, abs=0.01)


def test_both_directions_together_meet_both_windows() -> None:
    """Whatever the blocks, every pair in time is met once: by rate and second, both windows together."""
    for span_s in (0.001, 0.3, 5.0):
        stream = StreamStatistics(RATE, 1.0, span_s * RATE + 1, window_s=0.5)
        turns = Statistics({"A": stream, "B": stream}, leads={("A", "B"): -span_s, ("B", "A"): 0.0})
        assert met(turns, "A", "B").in_time + met(turns, "B", "A").in_time == pytest.approx(RATE, rel=0.001)


def test_row_windows_and_silent_streams() -> None:
    rows, silent = StreamStatistics(RATE, 50, 10), StreamStatistics(0.0, 0.0, 1.0, window_s=1.0)
    known = Statistics({"A": rows, "B": silent})
    assert met(known, "B", "A").in_time == 50
    assert met(known, "A", "B").in_time == 0
