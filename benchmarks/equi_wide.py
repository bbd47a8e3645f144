"""Two streams of 2,000,000 rows with four columns of payload, one of them text, on Spark; as ``equi``."""

from benchmarks.beside_spark import compare
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import equi_wide


def run(settings: Settings) -> Report:
    """Batches of 1,000,000 rows; 100,000 for RocksDB, and a tenth of the rows."""
    rows = settings.size(2_000_000, 80_000)
    small = rows // 10 if rows >= 1_000_000 else rows // 4
    return compare("Two streams with payload on Spark", equi_wide(rows, "UTC"), equi_wide(small, "UTC"), settings)
