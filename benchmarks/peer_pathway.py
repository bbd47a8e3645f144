"""Pathway: ``interval_join`` over CSV files read as they stand, two worker threads."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.checksum import FACTOR, NULL, PRIME, START
from benchmarks.peer_environment import Environment
from benchmarks.workloads import Workload

PATHWAY = Environment("pathway", "0.33.0")
TYPES = {pa.int64(): "int", pa.float64(): "float"}


def pathway_task(workload: Workload, folder: Path) -> dict[str, Any]:
    """What the job needs to know; a join without an equality on ``k`` is none that it can do."""
    return {
        "tables": {
            name: {"path": str(folder / name), "columns": {"us": "int"} | _columns(table)}
            for name, table in workload.tables.items()
        },
        "keyed": "A.k = B.k" in workload.on,
        "how": workload.how,
        "width": workload.window_us,
        "checked": workload.checked,
        "hash": {"prime": PRIME, "factor": FACTOR, "start": START, "null": NULL},
    }


def _columns(table: pa.Table) -> dict[str, str]:
    return {field.name: TYPES[field.type] for field in table.schema.remove(0)}
