"""One server that joins batches of arrivals: the real operators, what they counted, and when results leave.

A plan is played once, tuple by tuple or in small batches, in order of arrival. What each batch made the operators do
is counted (tuples hashed, tuples moved into a window, looks into windows, tuples met there) and its CPU time taken.
Afterwards a clock goes over the batches: a batch waits for its last tuple and for the server, and takes as long as
its counts (or its CPU time) say. So one play serves every price of the operations.

    >>> pieces = [Piece(at=1.0, hashes=1, results=5), Piece(at=1.5, hashes=2, results=7)]
    >>> outputs(pieces, lambda piece: piece.hashes)  # the second waits for the first
    ([2.0, 4.0], [5, 12])
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from time import process_time

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.engine import Engine
from dovetail.engine.operator.observed import Observed
from dovetail.plan.calibrate import load_weights
from dovetail.plan.cost import Weights
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.operator_of import operator_of
from experiments.mjoin_model import Ticks

Orders = Mapping[str, tuple[str, ...]]
Batch = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Piece:
    """A batch: when its last tuple came, what it made the operators do, the results it gave, CPU seconds."""

    at: float
    hashes: int = 0
    moves: int = 0
    looks: int = 0
    met: int = 0
    results: int = 0
    cpu_s: float = 0.0


class _NeverRead(Observed):
    """Leaves the counters of the probes alone, which the planner would take and soon forget; so the plan stays."""

    def _is_due(self, least: int) -> bool:
        return False


class Operators:
    """One engine or a tree of them, with a fixed plan and counters of what they do."""

    def __init__(self, query: dv.Query, orders: Orders | None = None) -> None:
        self._operator: Operator = Engine(plan_query(query.model, orders)) if orders else operator_of(query.plan)
        self._lines = [readings.line for readings in self._operator.statistics()]
        for line in self._lines:
            line.observed = _NeverRead(line.store.windows, line.store.plan.query.streams)

    def push(self, at: float, batch: Batch) -> Piece:
        """Join a batch that was complete at a moment."""
        before = self.counts()
        started = process_time()
        results = sum(rows.num_rows for rows in self._operator.push(batch))
        spent = process_time() - started
        hashes, moves, looks, met = (now - then for now, then in zip(self.counts(), before, strict=True))
        return Piece(at, hashes, moves, looks, met, results, spent)

    @property
    def plan(self) -> Plan:
        """Of the operator whose results leave."""
        return self._lines[-1].store.plan

    def steps(self) -> dict[tuple[str, int], tuple[float, float]]:
        """Of that operator, by arriving stream and step of its probe: looks, tuples met."""
        return {
            (name, at): (tally.came, tally.matched)
            for name, probe in self._lines[-1].probes.items()
            for at, (_, tally) in enumerate(probe.tallies)
        }

    def counts(self) -> tuple[int, int, int, int]:
        """Tuples hashed, tuples moved into windows, looks into windows, tuples met there; since the beginning."""
        stores = [line.store for line in self._lines]
        stored = [(_tables(store.plan, name), n) for store in stores for name, n in store.joined.items()]
        tallies = [tally for line in self._lines for probe in line.probes.values() for _, tally in probe.tallies]
        return (
            sum(tables * count for tables, count in stored),
            sum(count for _, count in stored),
            round(sum(float(tally.came) for tally in tallies)),
            round(sum(float(tally.matched) for tally in tallies)),
        )


def _tables(plan: Plan, name: str) -> int:
    """How many hash tables a stream's tuples are entered into: one per join column."""
    return len(plan.storage[name].hashed)


def played(query: dv.Query, rows: Batch, orders: Orders | None = None, *, pieces: int) -> list[Piece]:
    """Push rows (with a column ``ts``) in order of time, cut into so many batches."""
    operators = Operators(query, orders)
    return [operators.push(at, batch) for at, batch in batches(rows, pieces)]


def batches(rows: Batch, pieces: int) -> Iterator[tuple[float, Batch]]:
    """Batches of equally many arrivals, with the moment (in seconds) at which each is complete."""
    times = {name: table["ts"].cast(pa.int64()).to_numpy() for name, table in rows.items()}
    merged = np.sort(np.concatenate(list(times.values())))
    start = dict.fromkeys(rows, 0)
    for last in np.unique(merged[np.linspace(0, len(merged) - 1, pieces + 1).astype(np.int64)[1:]]):
        stop = {name: int(np.searchsorted(each, last, side="right")) for name, each in times.items()}
        cut = {name: table.slice(start[name], stop[name] - start[name]) for name, table in rows.items()}
        yield float(last) / 1e6, {name: table for name, table in cut.items() if table.num_rows}
        start = stop


def priced(ticks: Ticks) -> Callable[[Piece], float]:
    """Seconds for a batch if operations take so many seconds; looking and meeting both compare."""

    def seconds(piece: Piece) -> float:
        compared = piece.looks + piece.met
        return ticks.hash * piece.hashes + ticks.move * piece.moves + ticks.compare * compared

    return seconds


def calibrated(weights: Weights) -> Ticks:
    """Seconds of the same operations here: an index entry, an arrival, a stored tuple met along its chain.

    >>> calibrated(Weights({"hash_insert": 3e-9, "tuple": 15e-9, "hash_step": 4e-9}))
    Ticks(hash=3e-09, move=1.5e-08, compare=4e-09)
    """
    return Ticks(*(weights.seconds[work] for work in ("hash_insert", "tuple", "hash_step")))


def at_our_prices(plays: Mapping[str, Sequence[Piece]], base: str) -> dict[str, float | str]:
    """The work of every plan over that of one, at the prices that ``dovetail calibrate`` has found, and these."""
    weights = load_weights()
    ours = calibrated(weights)
    prices = " ".join(f"{1e9 * one:.2g}" for one in (ours.hash, ours.move, ours.compare))
    whole = busy(plays[base], priced(ours))
    others = {name: busy(each, priced(ours)) / whole for name, each in plays.items() if name != base}
    return {
        "our prices: hash, move, compare, ns": f"{prices} ({weights.origin})",
        **{f"{name}: work over that of {base}, at our prices": ratio for name, ratio in others.items()},
    }


def outputs(
    pieces: Sequence[Piece], seconds: Callable[[Piece], float], faster: float = 1.0
) -> tuple[list[float], list[int]]:
    """When batches are done, and the results that have left by then; arrivals come ``faster`` than they did."""
    moments, now = [], 0.0
    for piece in pieces:
        now = max(now, piece.at / faster) + seconds(piece)
        moments.append(now)
    return moments, list(accumulate(piece.results for piece in pieces))


def busy(pieces: Sequence[Piece], seconds: Callable[[Piece], float]) -> float:
    """Seconds of work per second of arrivals."""
    return sum(map(seconds, pieces)) / pieces[-1].at
