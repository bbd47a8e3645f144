"""The planted events of the video join."""

import numpy as np
import pytest

from experiments.grub_video import Video, _frames, expected, watched

CLIP = Video(seconds=600.0, rate=0.5, window_s=300.0, events=10)


def test_events_are_alike_in_both_streams_and_nothing_else_is() -> None:
    one, other = (_frames(CLIP, place) for place in range(2))
    vectors = [np.stack(each["v"].to_numpy(zero_copy_only=False)) for each in (one, other)]
    sizes = [np.linalg.norm(each, axis=1) for each in vectors]
    alike = vectors[0] @ vectors[1].T / np.outer(*sizes) >= 0.9
    same = np.equal.outer(one["event"].to_numpy(), other["event"].to_numpy()) & (one["event"].to_numpy() >= 0)[:, None]
    assert (alike == same).all()
    assert set(one["event"].to_pylist()) == set(other["event"].to_pylist()) == set(range(-1, 10))


def test_with_all_of_the_cpu_no_event_is_missed_and_with_very_little_some_are() -> None:
    whole = watched(CLIP, "drop", 1e15)
    assert (whole.share, whole.late, whole.dropped) == (0, 0, 0)
    little = watched(CLIP, "drop", whole.compared / 50)
    assert little.share > 0
    assert little.dropped > 0.5
    assert len(little.missed_at) + len(little.found) == len(whole.found)


def test_what_keep_rates_make_a_join_miss() -> None:
    assert expected(1.0) == 0
    assert expected(0.0) == 1
    assert expected(0.39) == pytest.approx(0.258, abs=0.001)  # 0.61^4 = 0.138 of either stream
