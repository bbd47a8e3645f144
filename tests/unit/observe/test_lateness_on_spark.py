"""What a batch on Spark says of rows that were late, from the reports of its buckets."""

import json
from types import SimpleNamespace

from dovetail.runtime.spark.metrics import OBSERVATION, REPORTS, batch_metrics


def report(bucket: int, **lateness_us: int) -> str:
    streams = {name: {"late": 1, "lateness_us": us} for name, us in lateness_us.items()}
    counters = dict.fromkeys(("results", "bytes_written", "load_us", "join_us", "save_us"), 0)
    return json.dumps({"bucket": bucket, "packed": {}, "engine": {"streams": streams}, **counters})


def test_the_worst_bucket_says_which_delay_would_have_kept_the_rows() -> None:
    reports = {REPORTS: [report(0, A=0, B=0), report(1, A=61_300_000, B=0)]}
    rows = {f"{OBSERVATION}1": SimpleNamespace(asDict=lambda: reports)}
    progress = SimpleNamespace(batchId=3, timestamp="", durationMs={}, observedMetrics=rows)
    found = batch_metrics(progress)
    assert found is not None
    assert found["lateness"] == {"A": {"lateness_us": 61_300_000, "delay": "2 minutes"}}
