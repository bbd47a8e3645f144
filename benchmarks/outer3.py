"""Orders with payments and shipments, or without: two left joins in one operator, against two of Spark's own."""

from benchmarks.outer import compare
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import left3


def run(settings: Settings) -> Report:
    """Three streams."""
    return compare("Two left joins on Spark", left3(settings.size(1_500_000, 60_000)), settings)
