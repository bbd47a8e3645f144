"""Two streams of 5,000,000 rows on Spark: Dovetail, Spark's own join (in memory, RocksDB), and the transport floor."""

from benchmarks.beside_spark import compare
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import equi


def run(settings: Settings) -> Report:
    """Batches of 1,000,000 rows; 100,000 for RocksDB, and a tenth of the rows."""
    rows = settings.size(5_000_000, 80_000)
    small = rows // 10 if rows >= 1_000_000 else rows // 4
    return compare("Two streams on Spark", equi(rows, "UTC"), equi(small, "UTC"), settings)
