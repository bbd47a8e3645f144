"""The quick clock of the figures beside the real operator: every result leaves at the same moment."""

from collections.abc import Sequence

import numpy as np
import pytest

from experiments import share_engine
from experiments.share_engine import largest_difference

WINDOWS = {"Greedy differs from SWF": (10, 12, 60), "the same": (3, 20, 60)}


@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize("stored", ["hash", "scan"])
@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS)
def test_results_leave_the_real_operator_when_the_clock_says(
    windows: Sequence[int], stored: str, together: int
) -> None:
    count, most = largest_difference(windows, stored, 60, together)
    assert count > 1000
    assert most < 1e-6


def test_a_clock_that_takes_another_stage_first_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share_engine, "urgency", lambda schedule, windows: np.arange(len(windows))[::-1])
    assert largest_difference((10, 12, 60), "hash", 60)[1] > 0.1
