"""What a pipeline has written, batch by batch, as Spark would have observed it."""

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.checksum import sum_of
from benchmarks.workloads import Workload


def observed_in(results: Path, batch: int, workload: Workload) -> dict[str, Any]:
    """Count and checksum of a batch's files, and when the rows behind them came if they say so."""
    files = sorted((results / f"batch={batch}").glob("*.parquet"))
    if not files:
        return {}
    rows = pq.ParquetDataset(files, partitioning=None).read()
    found = sum_of(rows, workload.checked)
    observed: dict[str, Any] = {"rows": found.rows, "total": found.total}
    if "arrived" in rows.schema.names:
        arrived = rows["arrived"]
        observed |= {"mean": pc.mean(arrived).as_py(), "first": pc.min(arrived).as_py()}
    return observed
