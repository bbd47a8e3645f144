"""Two streams of 5,000,000 rows on Spark: Dovetail, Spark's own join (in memory, RocksDB), and the transport floor."""

from benchmarks.beside_spark import compare, with_curve
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import equi

CURVE = (10_000, 40_000, 100_000, 400_000, 1_000_000, 4_000_000)


def run(settings: Settings) -> Report:
    """Batches of 1,000,000 rows; 100,000 for RocksDB, and a tenth of the rows; then other sizes of batches."""
    rows = settings.size(5_000_000, 80_000)
    small = rows // 10 if rows >= 1_000_000 else rows // 4
    workload = equi(rows, "UTC")
    report = compare("Two streams on Spark", workload, equi(small, "UTC"), settings)
    return with_curve(report, workload, settings.choose(CURVE, (20_000,)))
