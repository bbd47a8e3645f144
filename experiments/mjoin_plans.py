"""MJoin's figure 17: five plans of one six-way join.

Two stars of three streams each, on a and on b, tied by a column c that seldom agrees; the sixth stream is the fast one.

    S1(a)  S2(a, c)  S3(a)        S4(b)  S5(b, c)  S6(b)        S1.a = S2.a = S3.a,  S4.b = S5.b = S6.b,  S2.c = S5.c
"""

from functools import cache

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.model.tree import Tree
from dovetail.testing import poisson
from experiments.mjoin_rates import THEIRS, _curve
from experiments.outcome import Outcome, Panel
from experiments.server import Orders, Piece, at_our_prices, busy, played, priced

_SECONDS = 300.0
_TUPLES = {"S1": 70_000, "S2": 10_000, "S3": 30_000, "S4": 4_000, "S5": 25_000, "S6": 300_000}
_VALUES = {"a": 10_000, "b": 4_000, "c": 250_000}
_COLUMNS = {"S1": "a", "S2": "ac", "S3": "a", "S4": "b", "S5": "bc", "S6": "b"}
_ON = "S1.a = S2.a AND S1.a = S3.a AND S4.b = S5.b AND S4.b = S6.b AND S2.c = S5.c"
_TREES: dict[str, Tree] = {
    "deep binary": ((((("S1", "S2"), "S3"), "S5"), "S4"), "S6"),
    "bushy binary": (((("S1", "S2"), ("S4", "S5")), "S3"), "S6"),
    "three and three": (("S1", "S2", "S3"), ("S4", "S5", "S6")),
    "two pairs, then all": ((("S1", "S2"), ("S4", "S5")), "S3", "S6"),
}
_ORDERS: Orders = {
    "S1": ("S2", "S5", "S4", "S3", "S6"),
    "S2": ("S5", "S4", "S3", "S1", "S6"),
    "S3": ("S2", "S5", "S4", "S1", "S6"),
    "S4": ("S5", "S2", "S3", "S1", "S6"),
    "S5": ("S2", "S4", "S3", "S1", "S6"),
    "S6": ("S4", "S5", "S2", "S3", "S1"),
}


def figure_17(quick: bool) -> Outcome:
    """One operator, two binary trees, two trees of smaller multi-way operators; the server is always busy."""
    small = 10 if quick else 1
    plays, theirs = _played(small), priced(THEIRS)
    one_s = busy(plays["one operator"], theirs)
    faster = 1000 * one_s + 1e6
    curves = {name: _curve(name, pieces, theirs, faster) for name, pieces in plays.items()}
    at = np.linspace(0, max(curve.x[-1] for curve in curves.values()), 1000)
    so_far = {name: np.interp(at, curve.x, curve.y, left=0) for name, curve in curves.items()}
    one, most = so_far["one operator"], curves["one operator"].y[-1]
    others = np.maximum.reduce([each for name, each in so_far.items() if name != "one operator"])
    counted = one >= 0.001 * most
    lead = np.where(counted, one / np.maximum(others, 1) - 1, 0.0)
    ends = {name: curve.x[-1] / curves["one operator"].x[-1] for name, curve in curves.items()}
    return Outcome(
        "mjoin-17",
        "Five plans of a six-way join",
        "The single operator is ahead first; later a plan of smaller multi-way operators overtakes it, and even the "
        "bushy binary tree does.",
        paper={"ahead first": "one operator", "ahead in the end": "smaller multi-way operators"},
        ours={
            "ahead first": max(so_far, key=lambda name: so_far[name][int(np.argmax(lead))]),
            "ahead in the end": min(ends, key=lambda name: ends[name]),
            "largest lead of one operator, % of results so far": 100 * float(lead.max()),
            "results by then, % of all": 100 * float(one[int(np.argmax(lead))] / most),
            "largest lag of one operator, % of results so far": -100 * float(lead.min()),
            **{f"{name}: end over one operator's": end for name, end in ends.items() if name != "one operator"},
            **at_our_prices(plays, "one operator"),
            **{f"{name}: hashes": sum(piece.hashes for piece in each) for name, each in plays.items()},
        },
        checks={
            "every plan gives the same number of results": len({int(curve.y[-1]) for curve in curves.values()}) == 1,
            "one operator is ahead by 1 % or more, when 0.1 % of all results are out or more": float(lead.max()) > 0.01,
            "and that is before it falls behind by as much": 0
            < int(np.argmax(lead > 0.01))
            < int(np.argmax(lead < -0.01)),
            "a plan of smaller multi-way operators ends before it": ends["two pairs, then all"] < 1,
            "the bushy binary tree ends before it, too": ends["bushy binary"] < 1,
        },
        panels=(Panel("busy time of the server, s", "results so far", tuple(curves.values())),),
        differences=(
            "Sizes and delays are in a figure that the text does not have, except that the fastest stream has 300,000 "
            "tuples; ours are in `experiments/mjoin_plans.py`. Time is the server's busy time at the paper's prices: "
            "tuples wait for the server, never the server for tuples.",
            "What makes the single operator lose is work thrown away: every tuple of S6 finds its partners of S4 and "
            "S5 again, only to find that few of them have a partner in S2.",
            "The paper's trees are in that figure, too. Our bushy one joins two pairs, and these to each other by the "
            "rare column, before the large streams. One that joins each star whole before both together makes "
            f"intermediate results that come to nothing, and takes {_whole_stars(small, one_s):.1f} times as long as "
            "the single operator.",
        ),
    )


def _whole_stars(small: int, one_operator_s: float) -> float:
    """How many times as long a bushy tree takes that uses the rare column last."""
    pieces = _play_tree(((("S1", "S2"), "S3"), (("S4", "S5"), "S6")), small)
    return busy(pieces, priced(THEIRS)) / one_operator_s


@cache
def _played(small: int) -> dict[str, list[Piece]]:
    return {"one operator": _play_tree(None, small), **{name: _play_tree(tree, small) for name, tree in _TREES.items()}}


def _play_tree(tree: Tree | None, small: int) -> list[Piece]:
    """One plan; None: one operator."""
    rows = {name: _rows(name, small) for name in _TUPLES}
    streams = [dv.stream(name, time="ts", window="1 day", schema=table.schema) for name, table in rows.items()]
    pieces = 150 if small > 1 else 500
    if tree is None:
        return played(dv.join(*streams, on=_ON, select="S1.a"), rows, _ORDERS, pieces=pieces)
    return played(dv.join(*streams, on=_ON, select="S1.a", plan=tree), rows, pieces=pieces)


def _rows(name: str, small: int) -> pa.Table:
    """A Wisconsin-style relation: a and b hold every value equally often, c some of many values once each."""
    random = np.random.default_rng(int(name[1]))
    count = _TUPLES[name] // small
    times = poisson(count / _SECONDS, 1.2 * _SECONDS, int(name[1]))[:count]
    columns = {"ts": pa.array(times).cast(pa.timestamp("us"))}
    for column in _COLUMNS[name]:
        values = _VALUES[column] // small
        kept = random.permutation(values)[:count] if column == "c" else random.permutation(np.arange(count) % values)
        columns[column] = pa.array(kept)
    return pa.table(columns)
