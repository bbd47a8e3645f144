"""The server of the multi-way figures: what is counted, and when results leave."""

import numpy as np
import pyarrow as pa
import pytest

from experiments.mjoin_model import Ticks
from experiments.mjoin_rates import query, relation
from experiments.server import Operators, Piece, batches, busy, outputs, played, priced


def rows(*counts: int, values: int = 5) -> dict[str, pa.Table]:
    return {
        f"S{place}": relation(np.arange(count) * 1000 + place, values, place)
        for place, count in enumerate(counts, start=1)
    }


def test_one_operator_hashes_its_input_and_a_tree_its_intermediate_results_too() -> None:
    streams = rows(50, 75, 50)
    one, tree = (played(query(plan), streams, pieces=25) for plan in ("multiway", (("S1", "S2"), "S3")))
    assert sum(piece.hashes for piece in one) == sum(piece.moves for piece in one) == 175
    assert sum(piece.hashes for piece in tree) == 175 + 50 * 75 // 5
    assert sum(piece.results for piece in one) == sum(piece.results for piece in tree) == 50 * 75 * 50 // 25


def test_looks_and_tuples_met_follow_the_order_of_probing() -> None:
    operators = Operators(query(), {"S1": ("S2", "S3"), "S2": ("S1", "S3"), "S3": ("S1", "S2")})
    one, two, three = rows(1, 3, 2, values=1).values()
    operators.push(0.0, {"S2": two})
    operators.push(0.0, {"S3": three})
    before = operators.counts()
    piece = operators.push(1.0, {"S1": one})
    assert (piece.looks, piece.met) == (1 + 3, 3 + 6), "one look at S2 meets 3, each of which meets 2 of S3"
    assert operators.counts()[3] == before[3] + 9


def test_batches_hold_everything_once_in_order() -> None:
    streams = rows(20, 30, 10)
    cut = list(batches(streams, 7))
    assert [at for at, _ in cut] == sorted(at for at, _ in cut)
    for name, table in streams.items():
        assert pa.concat_tables([batch[name] for _, batch in cut if name in batch]).equals(table)


def test_a_batch_waits_for_the_server_and_for_its_tuples() -> None:
    pieces = [Piece(1.0, hashes=3, results=1), Piece(2.0, moves=1, looks=1, met=1, results=1), Piece(9.0, hashes=1)]
    price = priced(Ticks(hash=1.0, move=0.5, compare=0.25))
    assert outputs(pieces, price) == ([4.0, 5.0, 10.0], [1, 2, 2])
    assert outputs(pieces, price, faster=2.0)[0] == [3.5, 4.5, 5.5]
    assert busy(pieces, price) == pytest.approx(5 / 9)
