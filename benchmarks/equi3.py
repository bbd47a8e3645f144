"""Three streams of 2,000,000 rows on Spark: one operator against Spark's own joins, one after the other."""

from benchmarks.beside_spark import compare
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import equi3


def run(settings: Settings) -> Report:
    """As ``equi``, with fewer rows: Spark's cascade is slow."""
    rows = settings.size(2_000_000, 60_000)
    small = rows // 10 if rows >= 1_000_000 else rows // 4
    return compare("Three streams on Spark", equi3(rows, "UTC"), equi3(small, "UTC"), settings)
