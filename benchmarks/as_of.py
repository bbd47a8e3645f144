"""An as-of join by a row window, ``rows(1, per="key")``, in one push: the time per row as the input grows.

Prices of a few keys, and orders whose window is zero, so that an order meets the last price of its key at or before it,
and nothing else. The whole input comes at once. ``growth`` is how many times more a row costs in the largest input than
in the smallest: about 1 if the work grows with the input. DuckDB's ASOF join says whether the results are right.
"""

import time
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks.limit_threads import limit_arrow
from benchmarks.report import Report
from benchmarks.settings import Settings

FULL, QUICK = (20_000, 80_000, 320_000, 1_280_000), (5_000, 20_000)
KEYS = (3, 1_000)
ORDERS = 5  # so many prices for each order
REPEATS = 3
SQL = "SELECT O.v AS o, P.v AS p FROM orders O ASOF JOIN prices P ON O.k = P.k AND O.ts >= P.ts"


def run(settings: Settings) -> Report:
    """Every number of keys at every size."""
    limit_arrow()
    sizes = (settings.rows // 4, settings.rows) if settings.rows else settings.choose(FULL, QUICK)
    measure(1_000, 3)  # loads the kernels
    points = [measure(prices, keys) for keys in KEYS for prices in sizes]
    fields: dict[str, Any] = {"rows": sum(point["rows"] for point in points), "points": points}
    fields["results_equal"] = all(point["results_equal"] for point in points)
    fields["growth"] = {str(keys): _growth([p for p in points if p["keys"] == keys]) for keys in KEYS}
    header = ("keys", "prices", "orders", "ns per row", "times DuckDB's time")
    lines = [(p["keys"], p["prices"], p["orders"], p["ns_per_row"], p["vs_duckdb"]) for p in points]
    return Report("As-of join by a row window, all rows in one push", header, lines, fields)


def _growth(points: list[dict[str, Any]]) -> float:
    return float(round(points[-1]["ns_per_row"] / points[0]["ns_per_row"], 3))


def measure(prices: int, keys: int) -> dict[str, Any]:
    """One size: CPU time per row, beside DuckDB's on the same tables."""
    tables = {"P": _table(prices, keys, 1, prices), "O": _table(prices // ORDERS, keys, 2, prices)}
    ours, found = _timed(lambda: _query(tables).collect().select(["o", "p"]))
    theirs, expected = _timed(lambda: _duckdb(tables))
    rows = sum(table.num_rows for table in tables.values())
    return {
        "keys": keys,
        "prices": prices,
        "orders": tables["O"].num_rows,
        "rows": rows,
        "results_equal": found.sort_by("o").equals(expected.sort_by("o")),
        "ns_per_row": round(ours * 1e9 / rows, 1),
        "vs_duckdb": round(ours / theirs, 3),
    }


def _table(rows: int, keys: int, seed: int, span: int) -> pa.Table:
    """Times that are unlike within a table, because DuckDB takes any of several prices of one time."""
    random = np.random.default_rng(seed)
    times = np.sort(random.permutation(4 * span)[:rows])
    return pa.table({"ts": pa.array(times).cast(pa.timestamp("us")), "k": random.integers(0, keys, rows), "v": times})


def _query(tables: dict[str, pa.Table]) -> dv.Query:
    prices = dv.stream("P", tables["P"], time="ts", window=dv.rows(1, per="key"))
    orders = dv.stream("O", tables["O"], time="ts", window="0 seconds")
    return dv.join(prices, orders, on="P.k = O.k", select="O.v AS o, P.v AS p")


def _duckdb(tables: dict[str, pa.Table]) -> pa.Table:
    with duckdb.connect() as connection:
        connection.register("prices", tables["P"])
        connection.register("orders", tables["O"])
        return connection.sql(SQL).to_arrow_table()


def _timed(work: Callable[[], pa.Table]) -> tuple[float, pa.Table]:
    """The least CPU time of a few tries, and what they gave."""
    spent = []
    for _ in range(REPEATS):
        started = time.process_time()
        found = work()
        spent.append(time.process_time() - started)
    return min(spent), found
