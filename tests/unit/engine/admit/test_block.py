"""Cutting the blocks of a batch at common times."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail.engine.block.block import Block, interleave

TIMES = st.lists(st.integers(0, 20), min_size=1, max_size=15).map(sorted)


def blocks(times: dict[str, list[int]]) -> dict[str, Block]:
    return {name: Block({}, np.array(each, np.int64), {}) for name, each in times.items()}


@given(st.dictionaries(st.sampled_from("ABC"), TIMES, min_size=1), st.integers(1, 50))
def test_pieces_are_the_blocks_in_order_of_time(times: dict[str, list[int]], rows: int) -> None:
    seen: dict[str, list[int]] = {name: [] for name in times}
    for name, piece, pending in interleave(blocks(times), rows):
        seen[name] += piece.times.tolist()
        left = {other: each[len(seen[other]) :] for other, each in times.items()}
        assert pending == {other: each[0] for other, each in left.items() if each}
        # whoever forgets by what is pending forgets nothing that a piece given before it could still have joined
        assert all(piece.times[-1] <= each[0] for other, each in left.items() if each and other == name)
    assert seen == times


@given(st.dictionaries(st.sampled_from("ABC"), TIMES, min_size=1), st.integers(1, 50))
def test_a_piece_is_at_most_one_cut_and_its_ties(times: dict[str, list[int]], rows: int) -> None:
    most = max(each.count(time) for each in times.values() for time in each)
    assert all(len(piece) <= rows + most * len(times) for _, piece, _ in interleave(blocks(times), rows))


def test_a_small_batch_is_not_cut() -> None:
    pieces = list(interleave(blocks({"A": [1, 2], "B": [0, 9]})))
    assert [(name, piece.times.tolist(), pending) for name, piece, pending in pieces] == [
        ("A", [1, 2], {"B": 0}),
        ("B", [0, 9], {}),
    ]
