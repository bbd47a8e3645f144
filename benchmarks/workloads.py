"""The inputs of all benchmarks: streams made with NumPy, and the join that is asked of them.

    equi        a 64-bit key of 100,000, 10,000 rows per second of event time, windows of 10 s: about 1 match per row
    equi-wide   the same with four columns of payload, one of them text
    equi3       three streams on the same key
    outer       equi as a left join, a third of the left keys without partner
    outer3      A LEFT JOIN B LEFT JOIN C on one key, partners up to 10 s later; a third of A's keys have none in B, and
                a third none in C
    band        ABS(A.x - B.x) <= e and no equality, 2,000 rows per second, windows of 20 s: about 2 matches per row

Rows of a stream come evenly spaced and in order; streams are a fraction of a step apart, so that no two times are equal
and the times of its members tell every result from every other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv

KEYS = 100_000
SECOND = 1_000_000
STREAM = re.compile(r"([A-Z])\.")
START = 1_700_000_000 * SECOND


@dataclass(frozen=True)
class Workload:
    """A join and its inputs.

    ``on`` and ``select`` are SQL that Dovetail, DuckDB and Spark all read; ``on_range`` is the condition as DuckDB
    likes it better; ``checked`` names the columns of the checksum, whole numbers or times.
    """

    name: str
    tables: dict[str, pa.Table]
    on: str
    on_range: str | None
    window_us: int
    select: tuple[str, ...]
    checked: tuple[str, ...]
    delay_us: int = 0
    how: Any = "inner"

    @property
    def rows(self) -> int:
        return sum(table.num_rows for table in self.tables.values())

    @property
    def times(self) -> tuple[str, ...]:
        return tuple(name for name in self.checked if name.endswith("_ts"))

    def query(self, data: dict[str, object] | None = None, **options: Any) -> dv.Query:
        """The join as Dovetail runs it, over pushed rows or over some data."""
        window, delay = f"{self.window_us} microseconds", f"{self.delay_us} microseconds"
        inputs: dict[str, dict[str, Any]] = {name: {"schema": table.schema} for name, table in self.tables.items()}
        for name, given in (data or {}).items():  # files may come later than the query, and then tell no schema
            inputs[name] = {"data": given} | (inputs[name] if isinstance(given, dv.Files) else {})
        streams = [dv.stream(name, time="ts", window=window, delay=delay, **given) for name, given in inputs.items()]
        return dv.join(*streams, on=self.on, select=", ".join(self.select), how=self.how, **options)

    def conditions_on(self, name: str, joined: Sequence[str]) -> list[str]:
        """The conditions that decide about one more stream, once others are joined."""
        parts = {part: set(STREAM.findall(part)) for part in self.on.split(" AND ")}
        return [part for part, named in parts.items() if name in named and named <= {*joined, name}]

    def bare(self) -> "Workload":
        """The same without rows, small enough to send to another process."""
        return replace(self, tables={name: table.slice(0, 0) for name, table in self.tables.items()})


def event_times(rows: int, per_second: int, place: int, lag_us: int = 0, zone: str | None = None) -> pa.Array:
    """Evenly spaced times; ``place`` sets streams apart by a tenth of a step."""
    step = SECOND // per_second
    return pa.array(START - lag_us + np.arange(rows) * step + place * step // 10).cast(pa.timestamp("us", zone))


def equi(rows: int, zone: str | None = None, lag_us: int = 0, seed: int = 1) -> Workload:
    """Two streams, one key, one double; the second may lag behind the first."""
    random = np.random.default_rng(seed)
    times = {name: event_times(rows, 10_000, place, place * lag_us, zone) for place, name in enumerate("AB")}
    tables = {name: _keyed(random, rows, column) for name, column in times.items()}
    select = ("A.k", "A.ts AS a_ts", "B.ts AS b_ts", "A.v AS a_v", "B.v AS b_v")
    return Workload("equi", tables, "A.k = B.k", None, 10 * SECOND, select, ("k", "a_ts", "b_ts"))


def equi3(rows: int, zone: str | None = None, seed: int = 3) -> Workload:
    """Three streams on the same key: about one match per row again, since 1 x 1 = 1."""
    random = np.random.default_rng(seed)
    tables = {name: _keyed(random, rows, event_times(rows, 10_000, place, 0, zone)) for place, name in enumerate("ABC")}
    select = ("A.k", "A.ts AS a_ts", "B.ts AS b_ts", "C.ts AS c_ts", "A.v AS a_v", "B.v AS b_v", "C.v AS c_v")
    on = "A.k = B.k AND B.k = C.k"
    return Workload("equi3", tables, on, None, 10 * SECOND, select, ("k", "a_ts", "b_ts", "c_ts"))


def equi_wide(rows: int, zone: str | None = None, seed: int = 2) -> Workload:
    """``equi`` with four columns of payload: a double, two integers, a text of 10 to 16 letters."""
    base = equi(rows, zone, seed=seed)
    random = np.random.default_rng(seed + 100)
    tables = {name: _widened(random, table) for name, table in base.tables.items()}
    payload = (f"{s}.{c} AS {s.lower()}_{c}" for s in "AB" for c in ("v", "n", "m", "text"))
    select = ("A.k", "A.ts AS a_ts", "B.ts AS b_ts", *payload)
    return replace(base, name="equi-wide", tables=tables, select=select, checked=(*base.checked, "a_n", "b_m"))


def band(rows: int, zone: str | None = None, seed: int = 4) -> Workload:
    """Two streams whose values lie within 0.000025: of a window of 40,000 tuples spread over [0, 1), about 2 match."""
    random = np.random.default_rng(seed)
    tables = {name: _spread(random, rows, event_times(rows, 2_000, place, 0, zone)) for place, name in enumerate("AB")}
    select = ("A.ts AS a_ts", "B.ts AS b_ts", "A.x AS a_x", "B.x AS b_x", "A.v AS a_v", "B.v AS b_v")
    width = 0.000025
    ranged = f"A.x BETWEEN B.x - {width:f} AND B.x + {width:f}"
    return Workload("band", tables, f"ABS(A.x - B.x) <= {width:f}", ranged, 20 * SECOND, select, ("a_ts", "b_ts"))


def left(rows: int) -> Workload:
    """``equi`` as a left join in which a third of A's keys have no partner."""
    base = equi(rows, "UTC")
    kept = base.tables["A"]
    keys = kept["k"].to_numpy()
    lonely = np.where(keys % 3 == 0, keys + 2 * KEYS, keys)
    tables = {**base.tables, "A": kept.set_column(1, "k", pa.array(lonely))}
    return replace(base, name="outer", tables=tables, how="left")


def left3(rows: int) -> Workload:
    """Three streams: every row of A, with the rows of B and of C that come up to 10 s after it, or with NULL."""
    random = np.random.default_rng(5)
    times = {name: event_times(rows, 10_000, place, 0, "UTC") for place, name in enumerate("ABC")}
    tables = {name: _keyed(random, rows, column) for name, column in times.items()}
    for rest, name in enumerate("BC"):
        keys = tables[name]["k"].to_numpy()
        lonely = np.where(keys % 3 == rest, keys + 2 * KEYS, keys)
        tables[name] = tables[name].set_column(1, "k", pa.array(lonely))
    select = ("A.k", "A.ts AS a_ts", "B.ts AS b_ts", "C.ts AS c_ts", "A.v AS a_v", "B.v AS b_v", "C.v AS c_v")
    on = "A.k = B.k AND B.ts >= A.ts AND A.k = C.k AND C.ts >= A.ts"
    how, checked = {"B": "left", "C": "left"}, ("k", "a_ts", "b_ts", "c_ts")
    return Workload("outer3", tables, on, None, 10 * SECOND, select, checked, how=how)


def _keyed(random: np.random.Generator, rows: int, times: pa.Array) -> pa.Table:
    return pa.table({"ts": times, "k": random.integers(0, KEYS, rows), "v": random.random(rows)})


def _spread(random: np.random.Generator, rows: int, times: pa.Array) -> pa.Table:
    """Values on a grid of 2^-40, so that differences are exact and every way to write the band means the same."""
    return pa.table({"ts": times, "x": random.integers(0, 2**40, rows) / 2**40, "v": random.random(rows)})


def _widened(random: np.random.Generator, table: pa.Table) -> pa.Table:
    rows = table.num_rows
    words = pa.array([f"item {'x' * (number % 7)} {number:04}" for number in range(10_000)])
    wide = table.append_column("n", pa.array(random.integers(0, 1 << 40, rows)))
    wide = wide.append_column("m", pa.array(random.integers(0, 1000, rows)))
    return wide.append_column("text", words.take(pa.array(random.integers(0, len(words), rows))))
