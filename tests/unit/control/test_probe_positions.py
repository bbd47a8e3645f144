"""How many matches to expect at another place of a probe order."""

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.control.probe_positions import Places
from dovetail.plan.join_graph import close_equalities

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64()})


def places(on: str) -> Places:
    streams = [dv.stream(name, time="ts", window="1 second", schema=SCHEMA) for name in "ABCD"]
    query = dv.join(*streams, on=on, select="A.k AS a")
    return Places("A", close_equalities(query.model.predicates))


NEAR = " AND ".join(f"ABS({a}.x - {b}.x) <= 1" for a, b in ("AB", "AC", "AD", "BC", "BD", "CD"))
STAR = " AND ".join(f"ABS(A.x - {b}.x) <= 1" for b in "BCD")


def test_all_within_a_distance_match_less_the_later_they_come() -> None:
    near = places(NEAR)
    assert near.factor("B", ("B", "C", "D"), ("C", "D", "B")) == pytest.approx(4 / 3 / 2)
    assert near.factor("B", ("C", "D", "B"), ("B", "C", "D")) == pytest.approx(2 / (4 / 3))
    assert near.factor("C", ("B", "C", "D"), ("D", "C", "B")) == 1.0


def test_a_star_and_equal_keys_match_as_many_anywhere() -> None:
    for on in (STAR, "A.k = B.k AND B.k = C.k AND C.k = D.k"):
        assert places(on).factor("B", ("B", "C", "D"), ("C", "D", "B")) == 1.0


def test_a_chain_is_tied_only_along_it() -> None:
    chain = places("ABS(A.x - B.x) <= 1 AND ABS(B.x - C.x) <= 1 AND ABS(C.x - D.x) <= 1")
    assert chain.tied(("B", "C", "D"))
    assert not chain.tied(("C", "B", "D"))
