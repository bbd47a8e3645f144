"""Flink SQL: an interval join over CSV files, state on the heap or in RocksDB.

An event time of Flink has milliseconds, our rows have microseconds: each table has both, the interval join is a
millisecond wider, and a condition on the microseconds takes away what that lets in. Two streams of ``equi`` become

    SELECT A.k, A.us AS a_ts, ... FROM A JOIN B ON A.k = B.k
      AND B.ts BETWEEN A.ts - INTERVAL '10.001' SECOND AND A.ts + INTERVAL '10.001' SECOND
      AND B.us - A.us BETWEEN -10000000 AND 10000000
"""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.checksum import FACTOR, NULL, PRIME, START
from benchmarks.peer_environment import Environment
from benchmarks.workloads import Workload

FLINK = Environment("apache-flink", "2.3.0")
STREAM = re.compile(r"([A-Z])\.")
TYPES = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE"}
SETTINGS = {
    "parallelism.default": "2",
    "pipeline.object-reuse": "true",
    "taskmanager.memory.managed.size": "1g",
    "table.exec.mini-batch.enabled": "true",  # for the run that counts: without it every row would be an update
    "table.exec.mini-batch.allow-latency": "60 s",
    "table.exec.mini-batch.size": "1000000",
}


def flink_task(workload: Workload, folder: Path, rocksdb: bool) -> dict[str, Any]:
    """What the job needs to know: settings, tables, the join, how to count it, where to throw it."""
    columns = {name.split(" AS ")[-1].split(".")[-1]: _type(workload, name) for name in workload.select}
    sink = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    return {
        "settings": {**SETTINGS, "state.backend.type": "rocksdb" if rocksdb else "hashmap"},
        "tables": [_table(workload, name, folder) for name in workload.tables],
        "join": _join(workload),
        "count": _counted(workload),
        "sink": f"CREATE TABLE sink ({sink}) WITH ('connector' = 'blackhole')",
    }


def _type(workload: Workload, item: str) -> str:
    stream, _, column = item.split(" AS ")[0].partition(".")
    return TYPES.get(workload.tables[stream].schema.field(column).type, "BIGINT")


def _table(workload: Workload, name: str, folder: Path) -> str:
    columns = ", ".join(f"{field.name} {TYPES[field.type]}" for field in workload.tables[name].schema.remove(0))
    time = "ts AS TO_TIMESTAMP_LTZ(us / 1000, 3), WATERMARK FOR ts AS ts"
    source = f"'connector' = 'filesystem', 'path' = '{folder / name}', 'format' = 'csv'"
    return f"CREATE TABLE {name} (us BIGINT, {columns}, {time}) WITH ({source})"


def _join(workload: Workload) -> str:
    names = list(workload.tables)
    kind = "LEFT JOIN" if workload.how == "left" else "JOIN"
    conditions = {name: _condition(workload, names[:place], name) for place, name in enumerate(names) if place}
    joined = " ".join(f"{kind} {name} ON {condition}" for name, condition in conditions.items())
    return f"SELECT {', '.join(workload.select).replace('.ts', '.us')} FROM {names[0]} {joined}"


def _condition(workload: Workload, before: list[str], name: str) -> str:
    width, first = workload.window_us, before[0]
    wider = f"INTERVAL '{(width + 1000) / 1_000_000:.3f}' SECOND"
    named = {part: set(STREAM.findall(part)) for part in workload.on.split(" AND ")}
    parts = [part for part, streams in named.items() if name in streams and streams <= {*before, name}]
    parts += [f"{name}.ts BETWEEN {first}.ts - {wider} AND {first}.ts + {wider}"]
    parts += [f"{name}.us - {other}.us BETWEEN -{width} AND {width}" for other in before]
    return " AND ".join(parts)


def _counted(workload: Workload) -> str:
    """Count and checksum: a step of the hash is one more level of SELECT."""
    text = f"SELECT *, CAST({START} AS BIGINT) AS h FROM ({_join(workload)})"
    kept, prime = ", ".join(workload.checked), f"CAST({PRIME} AS BIGINT)"  # a remainder has the divisor's type
    for name in (*workload.checked, "0"):
        step = f"MOD(h * h + MOD(COALESCE({name}, {NULL}), {prime}) * {FACTOR} + 1, {prime})"
        text = f"SELECT {kept}, {step} AS h FROM ({text})"
    return f"SELECT COUNT(*), SUM(h) FROM ({text})"
