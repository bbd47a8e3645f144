"""As-of joins: each order with the last price of its key.

    at rest    all rows in one push, beside DuckDB, Polars and pandas on the same tables, CPU time on one thread each
    two        the same on two threads, beside DuckDB on two: time by the clock
    by rows    the same by a row window, ``rows(1, per="key")``, and orders whose window is zero, beside DuckDB
    growth     how many times more a row costs in the largest input than in the smallest: about 1 if it is linear
    state      prices of as many keys as asked for, each replaced once: bytes per key, by the run's account and by the
               process's own memory
    on Spark   beside the same join written by hand with a stateful processor (``asof_spark``)

Times are unlike within a table, because others take any of several prices of one time. Results are equal or no speed is
shown.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks.alone import alone
from benchmarks.asof_spark import WARM_S, beside
from benchmarks.limit_threads import limit_arrow
from benchmarks.report import Report
from benchmarks.settings import Settings

FULL, QUICK = (250_000, 1_000_000, 4_000_000), (5_000, 20_000)
KEYS = (100, 10_000)
STATE_KEYS, FILL = 10_000_000, 500_000
REPEATS, TWO = 3, 2
Asked = Callable[[dict[str, Any]], dv.Query]
SQL = "SELECT O.v AS o, P.v AS p FROM orders O ASOF JOIN prices P ON O.k = P.k AND O.ts >= P.ts"


def run(settings: Settings) -> Report:
    """Everything, each in a process of its own."""
    sizes = (settings.rows // 4, settings.rows) if settings.rows else settings.choose(FULL, QUICK)
    points = alone(at_rest, sizes)
    by_clock = alone(on_two_threads, sizes)
    by_rows = alone(with_row_windows, sizes)
    state = alone(weigh, settings.choose(STATE_KEYS, 50_000))
    spark = alone(beside, *settings.choose((600_000, 1_000, 200_000, WARM_S), (10_000, 50, 10_000, 0)))
    fields: dict[str, Any] = {"rows": sum(point["rows"] for point in points), "points": points, "state": state}
    fields |= {"two_threads": by_clock, "by_rows": by_rows, "spark": spark, "vs_by_hand": spark["vs_by_hand"]}
    fields["results_equal"] = all(point["results_equal"] for point in (*points, *by_clock, *by_rows, spark))
    fields["growth"] = {str(keys): _growth([p for p in points if p["keys"] == keys]) for keys in KEYS}
    fields["growth_by_rows"] = {str(keys): _growth([p for p in by_rows if p["keys"] == keys]) for keys in KEYS}
    fields["vs_duckdb"] = min(point["vs_duckdb"] for point in points)
    fields["vs_duckdb_two_threads"] = min(point["vs_duckdb"] for point in by_clock)
    header = ("keys", "rows", "ns per row", "times DuckDB", "times Polars", "times pandas")
    lines: list[tuple[object, ...]] = [
        (p["keys"], p["rows"], p["ns_per_row"], p["vs_duckdb"], p["vs_polars"], p["vs_pandas"]) for p in points
    ]
    lines += [(f"{p['keys']} on two threads", p["rows"], p["ns_per_row"], p["vs_duckdb"], None, None) for p in by_clock]
    lines += [(f"{p['keys']} by rows", p["rows"], p["ns_per_row"], p["vs_duckdb"], None, None) for p in by_rows]
    speeds = f"{spark['dovetail_rows_per_s']:,} rows/s, by hand {spark['by_hand_rows_per_s']:,}"
    lines.append((f"on Spark: {speeds}, {spark['vs_by_hand']} times", spark["rows"], None, None, None, None))
    weight = f"state of {state['keys']:,} keys: {state['bytes_per_key']:.0f} bytes each"
    lines.append((weight, None, None, None, None, None))
    title = "As-of join: all rows at rest, CPU time of one thread each or two by the clock; on Spark"
    return Report(title, header, lines, fields)


def _growth(points: list[dict[str, Any]]) -> float:
    return float(round(points[-1]["ns_per_row"] / points[0]["ns_per_row"], 3))


def at_rest(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Every number of keys at every size."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    limit_arrow()
    measure(1_000, 3)  # loads the kernels
    return [measure(rows, keys) for keys in KEYS for rows in sizes]


def on_two_threads(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """The same by the clock, both on two threads, beside DuckDB alone."""
    limit_arrow(TWO)
    measure(2_000, 3, query, TWO)  # loads the kernels
    return [measure(rows, keys, query, TWO) for keys in KEYS for rows in sizes]


def with_row_windows(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """The same by row windows, beside DuckDB alone."""
    limit_arrow()
    measure(1_000, 3, by_rows)  # loads the kernels
    return [measure(rows, keys, by_rows) for keys in KEYS for rows in sizes]


def measure(count: int, keys: int, asked: Asked | None = None, threads: int = 1) -> dict[str, Any]:
    """One size: time per row of both tables together, and how many times that the others take.

    On one thread it is CPU time, on several it is that of the clock. All peers, unless it is ``asked`` in another way.
    """
    tables = {"P": table(count, keys, 1, count), "O": table(count, keys, 2, count)}
    clock = time.process_time if threads == 1 else time.perf_counter
    ours, found = _timed(lambda: (asked or query)(tables).collect(threads=threads).select(["o", "p"]), clock)
    duckdb = partial(_duckdb, threads=threads)
    others: dict[str, Any] = {"duckdb": duckdb} | ({} if asked else {"polars": _polars, "pandas": _pandas})
    timed = {name: _timed(work(tables), clock) for name, work in others.items()}
    rows = sum(each.num_rows for each in tables.values())
    return {
        "keys": keys,
        "rows": rows,
        "results_equal": all(_same(found, theirs) for _, theirs in timed.values()),
        "ns_per_row": round(ours * 1e9 / rows, 1),
        **{f"vs_{name}": round(spent / ours, 3) for name, (spent, _) in timed.items()},
    }


def table(rows: int, keys: int, seed: int, span: int) -> pa.Table:
    """Rows in order of time, in microseconds."""
    random = np.random.default_rng(seed)
    times = np.sort(random.permutation(4 * span)[:rows])
    return pa.table({"ts": pa.array(times).cast(pa.timestamp("us")), "k": random.integers(0, keys, rows), "v": times})


def query(data: dict[str, Any], **options: Any) -> dv.Query:
    """Each order with the last price of its key."""
    prices = dv.stream("P", data["P"], time="ts", asof=dv.asof())
    orders = dv.stream("O", data["O"], time="ts")
    return dv.join(orders, prices, on="P.k = O.k", select="O.v AS o, P.v AS p", **options)


def by_rows(data: dict[str, Any]) -> dv.Query:
    """The same by windows: of each key the last price, and orders that are gone at once."""
    prices = dv.stream("P", data["P"], time="ts", window=dv.rows(1, per="key"))
    orders = dv.stream("O", data["O"], time="ts", window="0 seconds")
    return dv.join(prices, orders, on="P.k = O.k", select="O.v AS o, P.v AS p")


def _duckdb(tables: dict[str, pa.Table], threads: int) -> Callable[[], pa.Table]:
    import duckdb

    def work() -> pa.Table:
        with duckdb.connect() as connection:
            connection.execute(f"SET threads = {threads}")
            connection.register("prices", tables["P"])
            connection.register("orders", tables["O"])
            return connection.sql(SQL).to_arrow_table()

    return work


def _polars(tables: dict[str, pa.Table]) -> Callable[[], pa.Table]:
    import polars

    orders, prices = (polars.DataFrame(tables[name]) for name in "OP")

    def work() -> pa.Table:
        joined = orders.join_asof(prices, on="ts", by="k", check_sortedness=False)
        return joined.drop_nulls("v_right").select(o="v", p="v_right").to_arrow()

    return work


def _pandas(tables: dict[str, pa.Table]) -> Callable[[], pa.Table]:
    import pandas as pd

    orders, prices = (tables[name].to_pandas() for name in "OP")

    def work() -> pa.Table:
        joined = pd.merge_asof(orders, prices, on="ts", by="k", suffixes=("", "_p")).dropna()
        return pa.table({"o": joined["v"].to_numpy(), "p": joined["v_p"].to_numpy().astype(np.int64)})

    return work


def _same(found: pa.Table, expected: pa.Table) -> bool:
    ours, theirs = (each.sort_by("o") for each in (found, expected))
    return all(ours[name].combine_chunks().equals(theirs[name].combine_chunks()) for name in ("o", "p"))


def _timed(work: Callable[[], pa.Table], clock: Callable[[], float]) -> tuple[float, pa.Table]:
    """The least time of a few tries, and what they gave."""
    spent = []
    for _ in range(REPEATS):
        started = clock()
        found = work()
        spent.append(clock() - started)
    return min(spent), found


def weigh(keys: int) -> dict[str, Any]:
    """A price for every key, and another: what is kept, and what it weighs."""
    import psutil

    limit_arrow()
    schema = table(1, 1, 1, 1).schema
    run = query({name: schema.empty_table() for name in "PO"}).local()
    process, before = psutil.Process(), psutil.Process().memory_info().rss
    for first in range(0, 2 * keys, FILL):
        times = np.arange(first, first + min(FILL, 2 * keys - first))
        stamps = pa.array(times).cast(pa.timestamp("us"))
        run.push("P", pa.table({"ts": stamps, "k": times * 7919 % keys, "v": times}, schema))
        run.advance("O", int(times[-1]) + 1)
    stored = run.metrics()["streams"]["P"]
    return {
        "keys": keys,
        "pushed": 2 * keys,
        "stored": stored["stored"],
        "bytes_per_key": round(stored["bytes"] / keys, 1),
        "rss_per_key": round((process.memory_info().rss - before) / keys, 1),
    }
