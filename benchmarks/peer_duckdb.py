"""DuckDB's join of whole tables: what an offline database does with the same rows and the same condition.

Tables are loaded beforehand. Bands are written as ``x BETWEEN y - e AND y + e``, the form for which DuckDB has a range
join; the window is a difference of whole numbers, which measured faster than comparing times with intervals.
"""

import time
from collections.abc import Callable
from itertools import combinations

import duckdb
import pyarrow as pa

from benchmarks.checksum import Sum, sum_of
from benchmarks.workloads import Workload

READER_ROWS = 1 << 17


class OfflineJoin:
    """One workload loaded into a database in memory."""

    def __init__(self, workload: Workload, threads: int = 2) -> None:
        self._workload = workload
        self._database = duckdb.connect(config={"threads": threads})
        for name, table in workload.tables.items():
            self._database.register(f"source_{name}", table)
            self._database.execute(f"CREATE TABLE {name} AS SELECT * FROM source_{name}")
            self._database.unregister(f"source_{name}")

    def sql(self, select: str) -> str:
        """The whole query."""
        names = list(self._workload.tables)
        if self._workload.how != "inner":
            return f"SELECT {select} FROM {names[0]} {' '.join(self._left(names, at) for at in range(1, len(names)))}"
        return f"SELECT {select} FROM {', '.join(names)} WHERE {self._condition(names)}"

    def _left(self, names: list[str], at: int) -> str:
        """One left join; the times of all others are bounded by that of the first stream."""
        own = self._workload.conditions_on(names[at], names[:at])
        gap = f"epoch_us({names[0]}.ts) - epoch_us({names[at]}.ts) BETWEEN -{(w := self._workload.window_us)} AND {w}"
        return f"LEFT JOIN {names[at]} ON {' AND '.join([*own, gap])}"

    def _condition(self, names: list[str]) -> str:
        gaps = [f"epoch_us({a}.ts) - epoch_us({b}.ts)" for a, b in combinations(names, 2)]
        width = self._workload.window_us
        inside = [f"{gap} BETWEEN -{width} AND {width}" for gap in gaps]
        return " AND ".join([self._workload.on_range or self._workload.on, *inside])

    @property
    def _columns(self) -> str:
        newest = ", ".join(f"{name}.ts" for name in self._workload.tables)
        return f"greatest({newest}) AS result_time, {', '.join(self._workload.select)}"

    def table(self) -> pa.Table:
        """All results as one Arrow table."""
        return self._database.sql(self.sql(self._columns)).to_arrow_table()

    def read(self) -> int:
        """All results as Arrow batches, dropped as they come."""
        reader = self._database.sql(self.sql(self._columns)).to_arrow_reader(READER_ROWS)
        return sum(batch.num_rows for batch in reader)

    def count(self) -> int:
        """Only how many."""
        (counted,) = self._database.sql(self.sql("count(*)")).fetchall()
        return int(counted[0])

    def sum(self) -> Sum:
        """Count and checksum of the results."""
        return sum_of(self.table(), self._workload.checked)

    def seconds(self, repeats: int) -> dict[str, float]:
        """The best time of each way to ask."""
        ways: dict[str, Callable[[], object]] = {"table": self.table, "reader": self.read, "count": self.count}
        return {name: min(_timed(way) for _ in range(repeats)) for name, way in ways.items()}


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
