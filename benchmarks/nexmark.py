"""The joins of Nexmark, embedded on one thread, streams pushed in turns; each result set equal to DuckDB's."""

import time
from collections.abc import Iterable
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks.limit_threads import limit_arrow
from benchmarks.nexmark_events import nexmark_events
from benchmarks.nexmark_queries import AFTERWARDS, QUERIES, NexmarkQuery
from benchmarks.report import Report
from benchmarks.settings import Settings

PER_SECOND, TURN_S = 10_000, 1.0


def run(settings: Settings) -> Report:
    """``rows`` counts events of all three streams together."""
    limit_arrow()
    events = nexmark_events(settings.size(1_000_000, 20_000), PER_SECOND)
    found = {name: measure(name, events) for name in QUERIES}
    fields: dict[str, Any] = {"rows": sum(table.num_rows for table in events.values()), "queries": found}
    fields["results_equal"] = all(each["results_equal"] for each in found.values())
    fields["results"] = {name: each["results"] for name, each in found.items()}
    lines = [(name, each["rows"], each["results"], each["rows_per_s"]) for name, each in found.items()]
    return Report("Joins of Nexmark, embedded", ("query", "rows in", "results", "rows/s"), lines, fields)


def measure(name: str, events: dict[str, pa.Table]) -> dict[str, Any]:
    """One query: its results compared, then its speed."""
    asked = QUERIES[name]
    turns = in_turns(asked, events)
    joined(asked, events, turns[:3])  # compiled before it is timed
    started = time.perf_counter()
    results = joined(asked, events, turns)
    seconds = time.perf_counter() - started
    rows = sum(block.num_rows for _, block in turns)
    equal = same(finished(name, results), finished(name, by_duckdb(name, events)))
    return {"rows": rows, "results": results.num_rows, "results_equal": equal, "rows_per_s": round(rows / seconds)}


def in_turns(asked: NexmarkQuery, events: dict[str, pa.Table]) -> list[tuple[str, pa.RecordBatch]]:
    """All streams cut at the same moments, as if each were read once a second."""
    cut = {name: _seconds_of(events[table]) for name, (table, _) in asked.windows.items()}
    longest = max(len(blocks) for blocks in cut.values())
    return [(name, blocks[at]) for at in range(longest) for name, blocks in cut.items() if at < len(blocks)]


def _seconds_of(table: pa.Table) -> list[pa.RecordBatch]:
    whole = table.combine_chunks().to_batches()[0]
    step = max(1, round(table.num_rows / _span_s(table) * TURN_S))
    return [whole.slice(at, step) for at in range(0, whole.num_rows, step)]


def _span_s(table: pa.Table) -> float:
    times = table["ts"].cast(pa.int64())
    return max(1e-6, float(times[-1].as_py() - times[0].as_py()) / 1_000_000)


def joined(asked: NexmarkQuery, events: dict[str, pa.Table], turns: Iterable[tuple[str, pa.RecordBatch]]) -> pa.Table:
    """What Dovetail gives."""
    query = asked.query(events)
    results = query.local(threads=1)
    tables = [results.push(name, block) for name, block in turns]
    return pa.concat_tables([*tables, results.close()]).drop_columns("result_time")


def by_duckdb(name: str, events: dict[str, pa.Table]) -> pa.Table:
    """What DuckDB gives over the whole tables."""
    with duckdb.connect() as database:
        for table, rows in events.items():
            database.register(table, rows)
        return database.sql(QUERIES[name].sql).to_arrow_table()


def finished(name: str, found: pa.Table) -> pa.Table:
    """What the query does after its join, if anything."""
    if name not in AFTERWARDS:
        return found
    with duckdb.connect() as database:
        return database.register("found", found).sql(AFTERWARDS[name]).to_arrow_table()


def same(one: pa.Table, other: pa.Table) -> bool:
    """Equal rows, in whatever order."""
    with duckdb.connect() as database:
        database.register("one", one).register("other", other)
        more = database.sql("SELECT * FROM one EXCEPT ALL SELECT * FROM other").to_arrow_table()
    return not more.num_rows and bool(one.num_rows == other.num_rows)
