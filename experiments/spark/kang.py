"""Kang's figure 9 on Spark: five ways to share too little memory, as windows of the real join in two buckets."""

from functools import partial

import numpy as np

from experiments.kang_shares import MEMORY_SPLITS, memory_fed, memory_outcome
from experiments.outcome import Outcome
from experiments.spark.session import cut, fed, played
from experiments.two_streams import Fed, joined, rows_of


def figure_9(quick: bool) -> Outcome:
    """The streams of the embedded figure, for a fifth of its time, in three micro-batches."""
    seconds = 100 if quick else 400
    found = {name: _results_per_second(*memory_fed(split), seconds) for name, split in MEMORY_SPLITS.items()}
    return memory_outcome(found, f"{seconds} s of stream, two buckets.")


def _results_per_second(a: Fed, b: Fed, seconds: float) -> float:
    """Counted once the windows have filled, in the first micro-batch."""
    random, full_s = np.random.default_rng(1), max(a.window_s, b.window_s)
    streams = {name: rows_of(each, 0, full_s + seconds, random) for name, each in (("A", a), ("B", b))}
    ends = [full_s, full_s + seconds / 2, full_s + seconds]
    batches = played(partial(fed, joined(a, b)), cut(streams, ends))
    return float(sum(report["results"] for reports in batches[1:] for report in reports) / seconds)
