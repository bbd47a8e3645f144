"""Inputs on which joins like to fall off a cliff, each against the plain case: ``equi``, with evenly spread keys.

    hot10, hot50    one key has a tenth, or half, of all rows
    zipf            the n-th key is as frequent as 1 / n
    text            keys are texts of 100 bytes
    composite       keys are four columns
    chain8          eight streams on one key
    wide_band       a band that half of all values lie in
    disorder        rows are as much out of order as the window is long

Where results are few, what counts is the cost of a tuple. Where rows have many partners it is the cost of a result:
what is left after the plain cost of the tuples, beside the same where as many results come by keys that are alike. It
is CPU time on one thread, so that other work on the machine disturbs it little. Results are compared with DuckDB's.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.limit_threads import limit_arrow
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.pushing import blocks_of, checked, results_of
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import KEYS, SECOND, Workload, band, equi, event_times

PUSH, RATE = 10_000, 10_000
FEW = 3.0  # how many times the plain cost of a tuple may be where results are few
FLAT = 1.5  # the same of a result where they are many


@dataclass(frozen=True)
class Case:
    """A workload, and whether its results are so many that they are what costs."""

    workload: Workload
    many: bool = False


def run(settings: Settings) -> Report:
    """Every case, in turns with the plain ones."""
    limit_arrow()
    rows, repeats = settings.size(400_000, 20_000), settings.choose(5, 1)
    plain = equi(rows), _hot(rows // 20, 0.0)
    found = {name: measure(make(rows), *plain, repeats) for name, make in CASES.items()}
    fields: dict[str, Any] = {"rows": rows, "results_equal": all(each["results_equal"] for each in found.values())}
    fields |= {"limits": {"tuple": FEW, "result": FLAT}, "cases": found}
    fields["worst"] = {
        "tuple": max(each.get("vs_plain_tuple", 0.0) for each in found.values()),
        "result": max(each.get("vs_plain_result", 0.0) for each in found.values()),
    }
    header = ("case", "results/tuple", "ns/tuple", "times the plain tuple", "times the plain result")
    columns = ("results_per_tuple", "ns_per_tuple", "vs_plain_tuple", "vs_plain_result")
    lines = [(name, *(each.get(column, "") for column in columns)) for name, each in found.items()]
    return Report("Cliffs: what a tuple, or a result, costs beside the plain case", header, lines, fields)


def measure(case: Case, plain: Workload, heavy: Workload, repeats: int) -> dict[str, Any]:
    """Results first; then the best of some turns, the case and what it is compared with after each other."""
    workload = case.workload
    expected = OfflineJoin(workload).sum()
    if checked(workload.query(), blocks_of(workload, PUSH), workload.checked) != expected:
        return {"results_equal": False}
    own, per_tuple, per_result = Timed(workload), Timed(plain), Timed(heavy)
    for _ in range(repeats):
        for each in (own, per_tuple, *((per_result,) if case.many else ())):
            each.again()
    fields: dict[str, Any] = {
        "results_equal": True,
        "results_per_tuple": round(expected.rows / workload.rows, 3),
        "ns_per_tuple": round(own.seconds / workload.rows * 1e9, 1),
    }
    tuple_s = per_tuple.seconds / plain.rows
    if case.many:
        return fields | {"vs_plain_result": round(own.per_result(tuple_s) / per_result.per_result(tuple_s), 3)}
    return fields | {"vs_plain_tuple": round(own.seconds / workload.rows / tuple_s, 3)}


class Timed:
    """The best time of a workload so far, in seconds of CPU time."""

    def __init__(self, workload: Workload) -> None:
        self._rows, self._query, self._blocks = workload.rows, workload.query(), blocks_of(workload, PUSH)
        self.seconds, self.results = float("inf"), 0

    def again(self) -> None:
        """One more run."""
        began = time.process_time()
        self.results = sum(table.num_rows for table in results_of(self._query, self._blocks))
        self.seconds = min(self.seconds, time.process_time() - began)

    def per_result(self, tuple_s: float) -> float:
        """What a result costs, the cost of the tuples aside."""
        return max(self.seconds - self._rows * tuple_s, 0.0) / self.results


def _hot(rows: int, share: float) -> Workload:
    """One key has this share of the rows; without one, as many results come from ten keys that are alike."""
    random = np.random.default_rng(7)
    few = 10 if not share else KEYS
    keys = (np.where(random.random(rows) < share, 0, 1 + random.integers(0, few, rows)) for _ in "AB")
    return _keyed("hot", rows, [pa.array(column) for column in keys], SECOND // 10)


def _zipf(rows: int) -> Workload:
    random = np.random.default_rng(8)
    weights = 1 / np.arange(1, KEYS + 1)
    keys = (random.choice(KEYS, rows, p=weights / weights.sum()) for _ in "AB")
    return _keyed("zipf", rows, [pa.array(column) for column in keys], SECOND)


def _text(rows: int) -> Workload:
    random = np.random.default_rng(9)
    texts = pa.array([f"{number:0100}" for number in range(KEYS)])
    return _keyed("text", rows, [texts.take(pa.array(random.integers(0, KEYS, rows))) for _ in "AB"], 10 * SECOND)


def _keyed(name: str, rows: int, keys: list[pa.Array], window_us: int) -> Workload:
    """``equi`` with other keys."""
    tables = {
        stream: pa.table({"ts": event_times(rows, RATE, place), "k": keys[place], "v": np.arange(rows) / rows})
        for place, stream in enumerate("AB")
    }
    select = ("A.ts AS a_ts", "B.ts AS b_ts", "A.v AS a_v", "B.v AS b_v")
    return Workload(name, tables, "A.k = B.k", None, window_us, select, ("a_ts", "b_ts"))


def _composite(rows: int) -> Workload:
    random = np.random.default_rng(10)
    parts = ("k", "l", "m", "n")
    tables = {
        name: pa.table({"ts": event_times(rows, RATE, place)} | {part: random.integers(0, 18, rows) for part in parts})
        for place, name in enumerate("AB")
    }
    on = " AND ".join(f"A.{part} = B.{part}" for part in parts)
    select = ("A.ts AS a_ts", "B.ts AS b_ts", *(f"A.{part}" for part in parts))
    return Workload("composite", tables, on, None, 10 * SECOND, select, ("a_ts", "b_ts"))


def _chain(rows: int) -> Workload:
    """Eight streams, and so many keys that few tuples have seven partners."""
    random, names = np.random.default_rng(11), "ABCDEFGH"
    tables = {
        name: pa.table({"ts": event_times(rows // 4, RATE, place), "k": random.integers(0, KEYS, rows // 4)})
        for place, name in enumerate(names)
    }
    on = " AND ".join(f"{a}.k = {b}.k" for a, b in pairwise(names))
    select = tuple(f"{name}.ts AS {name.lower()}_ts" for name in names)
    return Workload("chain8", tables, on, None, 5 * SECOND, select, ("a_ts", "h_ts"))


def _wide_band(rows: int) -> Workload:
    """Longer than other cases of many results: what counts is the plan that the run has found, not its first."""
    base = band(rows // 4)
    half, ranged = "ABS(A.x - B.x) <= 0.3", "A.x BETWEEN B.x - 0.3 AND B.x + 0.3"
    return replace(base, name="wide_band", on=half, on_range=ranged, window_us=SECOND // 10)


def _disorder(rows: int) -> Workload:
    """Every row is up to a window late, and the streams wait that long."""
    base, random = equi(rows), np.random.default_rng(12)
    late = np.argsort(np.arange(rows) + random.integers(0, base.window_us // SECOND * RATE, rows), kind="stable")
    tables = {name: table.take(pa.array(late)) for name, table in base.tables.items()}
    return replace(base, name="disorder", tables=tables, delay_us=base.window_us)


CASES: dict[str, Callable[[int], Case]] = {
    "hot10": lambda rows: Case(_hot(rows // 20, 0.1), many=True),
    "hot50": lambda rows: Case(_hot(rows // 20, 0.5), many=True),
    "zipf": lambda rows: Case(_zipf(rows // 20), many=True),
    "text": lambda rows: Case(_text(rows)),
    "composite": lambda rows: Case(_composite(rows)),
    "chain8": lambda rows: Case(_chain(rows)),
    "wide_band": lambda rows: Case(_wide_band(rows), many=True),
    "disorder": lambda rows: Case(_disorder(rows)),
}
