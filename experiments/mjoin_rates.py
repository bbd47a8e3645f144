"""MJoin's figures without overflow: a fluctuating stream (11), probing sequences (table 1, 12), windows (13)."""

from collections.abc import Mapping, Sequence
from functools import cache, partial

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.testing import constant, fluctuating, poisson, wisconsin
from dovetail.testing.arrivals import Times
from experiments.mjoin_model import Ticks
from experiments.outcome import Cause, Curve, Outcome, Panel
from experiments.server import Batch, Orders, Piece, at_our_prices, busy, outputs, played, priced
from experiments.turns import quickest

THEIRS = Ticks(hash=175.008e-9, move=426.518e-9, compare=49.133e-9)
_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
_NAMES = ("S1", "S2", "S3")
_TREES = {"third stream high": (("S1", "S2"), "S3"), "third stream low": (("S1", "S3"), "S2")}
_SECONDS, _RESULTS = "time, s", "results so far"
_FULL = 0.95
_SELECTIVE = 30  # times as many values as in the paper's inflating join
_SERVER = (
    "At the paper's prices of operations and delays of milliseconds a server would be busy less than one part in a "
    "hundred and every plan would give every result at once; the paper does not say what its prototype was short of. "
    f"Ours are the same arrivals in quicker succession, so that the single operator is busy {_FULL:.0%} of the time."
)

Plays = dict[str, list[Piece]]


def query(plan: object = "multiway", windows: Sequence[object] = ("1 day", "1 day", "1 day")) -> dv.Query:
    """Three streams on one column."""
    streams = [
        dv.stream(name, time="ts", window=window, schema=_SCHEMA)  # type: ignore[arg-type]
        for name, window in zip(_NAMES, windows, strict=True)
    ]
    return dv.join(*streams, on="S1.k = S2.k AND S2.k = S3.k", select="S1.k", plan=plan)  # type: ignore[arg-type]


def relation(times: Times, values: int, seed: int) -> pa.Table:
    """A Wisconsin relation on these times; if they do not divide, some values come once more than others."""
    count = -(-len(times) // values) * values
    keys = wisconsin(count, {"k": values}, seed)["k"].slice(0, len(times)).combine_chunks()
    return pa.table([pa.array(times).cast(pa.timestamp("us")), keys], schema=_SCHEMA)


def figure_11(quick: bool) -> Outcome:
    """100,000, 100,000 and 200,000 unique values; the third stream is fast, slow, fast."""
    plays = _fluctuating(quick)
    theirs = priced(THEIRS)
    faster = _FULL / busy(plays["MJoin"], theirs)
    curves = {name: _curve(name, pieces, theirs, faster) for name, pieces in plays.items()}
    at = np.linspace(0, max(curve.x[-1] for curve in curves.values()), 100)
    so_far = {name: np.interp(at, curve.x, curve.y, left=0) for name, curve in curves.items()}
    high, low = (so_far[name] for name in _TREES)
    ahead = bool((so_far["MJoin"] >= np.maximum(high, low) * 0.999).all())
    work = {name: _thirds([theirs(piece) for piece in pieces]) for name, pieces in plays.items()}
    measured = {name: sum(piece.cpu_s for piece in pieces) for name, pieces in plays.items()}
    return Outcome(
        "mjoin-11",
        "Three streams, one of which fluctuates",
        "One operator is ahead of both trees throughout; the tree with the fluctuating stream on top is ahead of the "
        "other while that stream is fast, and behind while it is slow.",
        paper={"ahead throughout": "MJoin"},
        ours={
            "ahead throughout": "MJoin" if ahead else "not always MJoin",
            "results": int(so_far["MJoin"][-1]),
            **{f"{name}: work over MJoin's, by thirds": _ratios(work[name], work["MJoin"]) for name in _TREES},
            "largest lead over the trees, % of all results": 100 * _lead(so_far, high, low),
            **at_our_prices(plays, "MJoin"),
            **{f"{name}: CPU time over MJoin's, measured": measured[name] / measured["MJoin"] for name in _TREES},
        },
        checks={
            "every plan gives the same number of results": len({int(curve.y[-1]) for curve in curves.values()}) == 1,
            "one operator is never behind a tree": ahead,
            "the trees change places: high works less while the stream is fast, more while it is slow": all(
                (h < w) == fast
                for h, w, fast in zip(*(work[name] for name in _TREES), (True, False, True), strict=True)
            ),
            "and their curves cross": bool((high > low + 1).any() and (low > high + 1).any()),
            "measured, one operator takes less CPU time than either tree": measured["MJoin"]
            < min(measured[name] for name in _TREES),
        },
        panels=(Panel(_SECONDS, _RESULTS, tuple(curves.values())),),
        differences=(
            _SERVER,
            "The paper's buffer was smaller than its inputs; ours holds everything, so that only the work differs.",
        ),
    )


@cache
def _fluctuating(quick: bool) -> Plays:
    small = 10 if quick else 1
    keys, seconds = 100_000 // small, 300.0
    rate = keys / seconds
    ups = fluctuating([2.85 * rate, 0.3 * rate, 2.85 * rate], seconds / 3, seconds, seed=3)
    rows = {
        "S1": relation(poisson(rate, 1.1 * seconds, 1)[:keys], keys, 11),
        "S2": relation(poisson(rate, 1.1 * seconds, 2)[:keys], keys, 12),
        "S3": relation(ups[: 2 * keys], 2 * keys, 13),
    }
    plans = {"MJoin": "multiway", **_TREES}
    return {name: played(query(plan), rows, pieces=300 if quick else 1000) for name, plan in plans.items()}


def table_1(quick: bool) -> Outcome:
    """10,000, 15,000 and 10,000 tuples on a column of 1,000 values: operations of a tree and of two orders."""
    plays = {pace: _inflating(quick, pace) for pace in ("paper", "proportional")}
    counts = {pace: {name: _sums(pieces) for name, pieces in some.items()} for pace, some in plays.items()}
    theirs = {
        "tree": (185_000, 185_000, 1_500_000),
        "correct order": (35_000, 35_000, 1_656_727),
        "wrong order": (35_000, 35_000, 2_004_639),
    }
    small = 10 if quick else 1
    paper = {f"{name}: hashes, moves, comparisons": _triple(each) for name, each in theirs.items()}
    shown = {
        f"{name}: hashes, moves, comparisons": _triple((each.hashes, each.moves, each.met))
        for name, each in counts["paper"].items()
    }
    even = counts["proportional"]
    below = counts["paper"]["tree"].moves - counts["paper"]["correct order"].moves
    pairs, results = _pairs(quick), counts["paper"]["correct order"].results
    extra = {pace: each["wrong order"].met / each["correct order"].met - 1 for pace, each in counts.items()}
    return Outcome(
        "mjoin-table1",
        "Operations of a tree, of the right and of the wrong probing sequence",
        "The tree hashes and moves every intermediate result, the single operator only its input; a wrong sequence "
        "costs a fifth more comparisons.",
        paper={**paper, "comparisons of the wrong order, more": 2_004_639 / 1_656_727 - 1},
        ours={
            "size, of the paper's": 1 / small,
            **shown,
            "comparisons of the wrong order, more": extra["paper"],
            "the same if the streams advance in proportion": extra["proportional"],
            "correct and wrong order in proportion: comparisons": _triple(
                (even["correct order"].met, even["wrong order"].met)
            ),
            "most extra comparisons that any order can cause": pairs,
        },
        checks={
            "the tree hashes and moves 185,000": (counts["paper"]["tree"].hashes, counts["paper"]["tree"].moves)
            == (185_000 // small,) * 2,
            "one operator hashes and moves 35,000, in either order": all(
                (counts["paper"][name].hashes, counts["paper"][name].moves) == (35_000 // small,) * 2
                for name in ("correct order", "wrong order")
            ),
            "the wrong order compares more, in proportion": extra["proportional"] > 0,
            "the wrong order compares a fifth more, as in the paper": extra["paper"] > 0.15,
        },
        differences=(
            f"We count a comparison for every tuple met in a bucket; the tree's include {below:,} of its lower join, "
            f"which the paper's {theirs['tree'][2]:,} leave out.",
            "At the paper's delays (20, 20, 5 ms) S3 is complete after 50 s and holds more tuples than S2 until 200 s, "
            "when S1 ends: till then what the paper calls the wrong order is the right one, and in the end the orders "
            f"hardly differ. If streams advance in proportion the wrong one costs {extra['proportional']:.1%} more.",
            "No order can cost what the paper counts for the wrong one: a pair of tuples is met at the first step at "
            f"most once, by the later of the two, and there are only {pairs:,} pairs beside the {results:,} results.",
        ),
        causes=(_few_results(quick, extra["proportional"]),),
    )


def _few_results(quick: bool, extra: float) -> Cause:
    """The same streams in proportion on a column with more values: a pair seldom finds a third."""
    rows = _inflating_rows(quick, "proportional", _SELECTIVE)
    pieces = sum(table.num_rows for table in rows.values()) // (10 if quick else 5)
    ways = _sequences(rows)
    met = {name: _sums(played(*ways[name], pieces=pieces)).met for name in ("correct order", "wrong order")}
    more = met["wrong order"] / met["correct order"] - 1
    return Cause(
        "An order decides how many pairs are met at the first step; the results, which every order has to "
        f"make, hide that ({extra:.1%}), and at the paper's delays the streams do not grow in proportion. On a column "
        f"with {_SELECTIVE} times as many values few pairs find a third: there, in proportion, the wrong order "
        f"compares {more:.1%} more.",
        more > 0.2,
        ("the wrong order compares a fifth more, as in the paper",),
    )


@cache
def _inflating(quick: bool, pace: str) -> Plays:
    rows = _inflating_rows(quick, pace)
    pieces = sum(table.num_rows for table in rows.values()) // (10 if quick else 5)
    return {name: played(*each, pieces=pieces) for name, each in _sequences(rows).items()}


def _sequences(rows: Batch) -> dict[str, tuple[dv.Query, Batch, Orders | None]]:
    """The tree, and one operator with two probing sequences."""
    return {
        "tree": (query((("S1", "S2"), "S3")), rows, None),
        "correct order": (query(), rows, _orders(("S3", "S2"), ("S1", "S3"), ("S1", "S2"))),
        "wrong order": (query(), rows, _orders(("S2", "S3"), ("S3", "S1"), ("S2", "S1"))),
    }


def _cpu(quick: bool) -> dict[str, float]:
    """CPU time in batches of a thousand arrivals, streams in proportion; they take turns, the quickest turn counts."""
    rows = _inflating_rows(quick, "proportional")
    pieces = sum(table.num_rows for table in rows.values()) // 1000

    def took(name: str, _: int) -> float:
        return sum(piece.cpu_s for piece in played(*ways[name], pieces=pieces))

    ways = _sequences(rows)
    return quickest({name: partial(took, name) for name in ways}, turns=5)


def _inflating_rows(quick: bool, pace: str, selective: int = 1) -> Batch:
    counts = [count // (10 if quick else 1) for count in (10_000, 15_000, 10_000)]
    delays = (0.02, 0.02, 0.005) if pace == "paper" else (0.03, 0.02, 0.03)
    values = (100 if quick else 1000) * selective
    return {
        name: relation(constant(1 / delay, (count + 1) * delay)[:count] + place, values, 20 + place)
        for place, (name, count, delay) in enumerate(zip(_NAMES, counts, delays, strict=True))
    }


def _pairs(quick: bool) -> int:
    """How many pairs of two streams' tuples have one value, of the two pairs of streams that orders begin with."""
    first, second, third = (table.num_rows for table in _inflating_rows(quick, "paper").values())
    return int((first * second + second * third + first * third) // (100 if quick else 1000))


def _orders(*each: tuple[str, ...]) -> Orders:
    return dict(zip(_NAMES, each, strict=True))


def figure_12(quick: bool) -> Outcome:
    """The same three plans over time."""
    plays = {pace: _inflating(quick, pace) for pace in ("paper", "proportional")}
    theirs = priced(THEIRS)
    panels, ends = [], {}
    for pace, some in plays.items():
        faster = _FULL / busy(some["correct order"], theirs)
        curves = tuple(_curve(name, pieces, theirs, faster) for name, pieces in some.items())
        panels.append(Panel(f"{_SECONDS} ({pace} rates)", _RESULTS, curves))
        ends[pace] = {curve.label: curve.x[-1] for curve in curves}
    slower = {pace: each["wrong order"] / each["correct order"] - 1 for pace, each in ends.items()}
    measured = _cpu(quick)
    sums = {name: _sums(pieces) for name, pieces in plays["paper"].items()}
    met, below = sums["tree"].met, sums["tree"].moves - sums["correct order"].moves
    dear = (THEIRS.hash + THEIRS.move) / THEIRS.compare
    return Outcome(
        "mjoin-12",
        "Results over time with the right and the wrong probing sequence",
        "The right sequence is fastest; the wrong one loses so much that it falls behind the tree.",
        paper={"slowest in the end": "wrong order"},
        ours={
            "slowest in the end": max(ends["paper"], key=lambda name: ends["paper"][name]),
            "wrong order, later than the correct one, at the paper's rates": slower["paper"],
            "wrong order, later than the correct one, in proportion": slower["proportional"],
            "tree, later than the correct order, in proportion": ends["proportional"]["tree"]
            / ends["proportional"]["correct order"]
            - 1,
            **at_our_prices(plays["proportional"], "correct order"),
            "load at the paper's rates and prices": busy(plays["paper"]["correct order"], theirs),
            "CPU time over the correct order's, measured: wrong order": measured["wrong order"]
            / measured["correct order"],
            "CPU time over the correct order's, measured: tree": measured["tree"] / measured["correct order"],
        },
        checks={
            "the correct order ends first, in proportion": min(
                ends["proportional"], key=lambda name: ends["proportional"][name]
            )
            == "correct order",
            "the wrong order falls behind the tree": ends["paper"]["wrong order"] > ends["paper"]["tree"]
            or ends["proportional"]["wrong order"] > ends["proportional"]["tree"],
        },
        panels=tuple(panels),
        differences=(
            _SERVER,
            f"An order changes only how many tuples are met at first, at most {_pairs(quick):,} of {met:,}; the "
            f"tree's {below:,} intermediate results cost {dear:.0f} comparisons each to hash and move: it is last.",
        ),
        causes=(_compared_alone(plays["proportional"]),),
    )


def _compared_alone(plays: Mapping[str, Sequence[Piece]]) -> Cause:
    """The same plays on a server for which hashing and moving take no time."""
    comparing = priced(Ticks(hash=0.0, move=0.0, compare=THEIRS.compare))
    took = {name: busy(pieces, comparing) for name, pieces in plays.items()}
    more = took["wrong order"] / took["tree"] - 1
    return Cause(
        "The tree pays for hashing and moving its intermediate results, more than any order can cost. If hashing and "
        f"moving took no time, the wrong order would take {more:+.1%} of the tree's, in proportion, and be last.",
        more > 0,
        ("the wrong order falls behind the tree",),
    )


def figure_13(quick: bool) -> Outcome:
    """A million tuples each, 10,000 values, windows as long as 10,000 tuples take; S3 is three times as fast."""
    plays = _windowed(quick)
    theirs = priced(THEIRS)
    faster = _FULL / busy(plays["MJoin"], theirs)
    curves = {name: _curve(name, pieces, theirs, faster) for name, pieces in plays.items() if name != "MJoin, rows"}
    at = np.linspace(0, max(curve.x[-1] for curve in curves.values()), 100)
    so_far = {name: np.interp(at, curve.x, curve.y, left=0) for name, curve in curves.items()}
    trees = [name for name in curves if name != "MJoin"]
    measured = {name: sum(piece.cpu_s for piece in pieces) for name, pieces in plays.items()}
    return Outcome(
        "mjoin-13",
        "Windows of 10,000 tuples",
        "One operator is faster than both trees throughout.",
        paper={"fastest": "MJoin"},
        ours={
            "fastest": min(curves, key=lambda name: curves[name].x[-1]),
            "results": int(curves["MJoin"].y[-1]),
            "results with row windows": sum(piece.results for piece in plays["MJoin, rows"]),
            **{f"{name}: end over MJoin's": curves[name].x[-1] / curves["MJoin"].x[-1] for name in trees},
            **at_our_prices({name: plays[name] for name in curves}, "MJoin"),
            **{f"{name}: CPU time over MJoin's, measured": measured[name] / measured["MJoin"] for name in trees},
        },
        checks={
            "every plan gives the same number of results": len({int(curve.y[-1]) for curve in curves.values()}) == 1,
            "one operator is never behind a tree": all(
                bool((so_far["MJoin"] >= so_far[name] * 0.999).all()) for name in trees
            ),
            "measured, one operator takes less CPU time than either tree": measured["MJoin"]
            < min(measured[name] for name in trees),
        },
        panels=(Panel(_SECONDS, _RESULTS, tuple(curves.values())),),
        differences=(
            _SERVER,
            "The trees have time windows, as long as 10,000 tuples take on average: a row window needs one operator "
            "here, because a member of an intermediate result is pushed out by tuples that its operator never sees. "
            "The single operator was also run with row windows.",
            "The paper does not say how many values the column has; with 10,000 a probe finds one tuple on average.",
        ),
    )


@cache
def _windowed(quick: bool) -> Plays:
    count, values = (50_000, 10_000) if quick else (1_000_000, 10_000)
    delays = (0.003, 0.003, 0.001)
    rows = {
        name: relation(poisson(1 / delay, 1.2 * count * delay, 30 + place)[:count], values, 40 + place)
        for place, (name, delay) in enumerate(zip(_NAMES, delays, strict=True))
    }
    spans = [f"{round(10_000 * delay)} seconds" for delay in delays]
    plans: dict[str, object] = {"MJoin": "multiway", "fast high": _TREES["third stream high"]}
    plans["fast low"] = _TREES["third stream low"]
    pieces = 150 if quick else 3000
    timed = {name: played(query(plan, spans), rows, pieces=pieces) for name, plan in plans.items()}
    return {**timed, "MJoin, rows": played(query(windows=[dv.rows(10_000)] * 3), rows, pieces=pieces)}


def _curve(name: str, pieces: Sequence[Piece], seconds: object, faster: float) -> Curve:
    moments, results = outputs(pieces, seconds, faster)  # type: ignore[arg-type]
    shown = sorted({*np.linspace(0, len(pieces) - 1, 60).astype(int).tolist()})
    return Curve(name, [moments[at] for at in shown], [float(results[at]) for at in shown])


def _sums(pieces: Sequence[Piece]) -> Piece:
    return Piece(
        pieces[-1].at,
        *(sum(getattr(piece, part) for piece in pieces) for part in ("hashes", "moves", "looks", "met", "results")),
    )


def _thirds(amounts: Sequence[float]) -> list[float]:
    return [float(sum(part)) for part in np.array_split(np.array(amounts), 3)]


def _ratios(amounts: Sequence[float], others: Sequence[float]) -> str:
    return " ".join(f"{one / other:.2f}" for one, other in zip(amounts, others, strict=True))


def _lead(so_far: Mapping[str, np.ndarray], *trees: np.ndarray) -> float:
    return float((so_far["MJoin"] - np.maximum(*trees)).max() / so_far["MJoin"][-1])


def _triple(counts: Sequence[int]) -> str:
    return " ".join(f"{count:,}" for count in counts)
