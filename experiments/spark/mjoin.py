"""MJoin's figure 15 on Spark: six streams in three operators, memory for half, flushed in coordination and at random.

A last micro-batch of one tuple per stream, days later, lets all windows expire: before that all that is owed is made.
"""

from functools import partial

import pyarrow as pa

from benchmarks.spill import NAMES, TENTHS, Flushing, query, streams
from experiments.mjoin_overflow import never_behind
from experiments.outcome import Curve, Outcome, Panel
from experiments.spark.jobs import Random
from experiments.spark.session import Batch, cut, fed, played

_BATCHES = 16
_FAR_US = 3 * 24 * 3600 * 1_000_000  # past all windows, which are a day long
_WAYS: dict[Flushing, int] = {"coordinated": 2, "random": 9}  # streams up to which flushing is at random


def figure_15(quick: bool) -> Outcome:
    """Table 2, a tenth of its size."""
    small = 300 if quick else 1_000
    batches = _batches(small)
    results, flushed = {}, {}
    for name in _WAYS:
        results[name], flushed[name] = _so_far(name, small, batches)
    first = max(flushed.values())
    places = [round(first + (_BATCHES - 1 - first) * tenth / TENTHS) for tenth in range(1, TENTHS + 1)]
    tenths = {name: [each[place] for place in places] for name, each in results.items()}
    everything = results["coordinated"][-1]
    return Outcome(
        "mjoin-15",
        "Six streams and memory for half of them, on Spark",
        "Coordinated flushing is ahead of random flushing as long as input comes.",
        paper={"ahead throughout": "coordinated flushing"},
        ours={
            "ahead throughout": "coordinated flushing"
            if never_behind(tenths["coordinated"], tenths["random"])
            else "neither",
            "results": everything,
            **{
                f"{name}: results at 50 % and 100 % of input, % of all": " ".join(
                    f"{100 * each[place] / everything:.1f}" for place in (TENTHS // 2 - 1, -1)
                )
                for name, each in tenths.items()
            },
        },
        checks={
            "in the end both have given as many rows": len({each[-1] for each in results.values()}) == 1,
            "memory was flushed before half of the input had come": first < _BATCHES / 2,
            "coordinated is at or above random at every tenth": never_behind(tenths["coordinated"], tenths["random"]),
            "and above it at the end of input": tenths["coordinated"][-1] > tenths["random"][-1],
        },
        panels=(
            Panel(
                "share of the input after the first flush",
                "results so far",
                tuple(
                    Curve(name, [tenth / TENTHS for tenth in range(1, TENTHS + 1)], [float(one) for one in each])
                    for name, each in tenths.items()
                ),
            ),
        ),
        differences=(
            f"The streams are {small / 10_000:g} of the paper's, in {_BATCHES} micro-batches; three stateful operators "
            "in one bucket each, and what does not fit into their memory is in Spark's state store.",
        ),
    )


def _so_far(plan: Flushing, small: int, batches: list[Batch]) -> tuple[list[int], int]:
    """Results after each micro-batch, and in which of them memory was first flushed."""
    reports = played(partial(fed, query(plan, small, partitions=1)), batches, partial(Random, most=_WAYS[plan]))
    made, so_far = 0, []
    for batch in reports:
        made += sum(each["results"] for each in batch if not set(each["engine"]["streams"]) & set(NAMES))
        so_far.append(made)
    flushes = [any(each["engine"]["memory"]["flushed_tuples"] for each in batch) for batch in reports]
    return so_far, flushes.index(True)


def _batches(small: int) -> list[Batch]:
    """All streams as they arrive, the same part of the time in each micro-batch; then one tuple of each, far ahead."""
    rows = streams(small)
    last_s = max(each["ts"][-1].value for each in rows.values()) / 1e6
    ends = [last_s * number / _BATCHES + 1e-6 for number in range(1, _BATCHES + 1)]
    return [*cut(rows, ends), {name: _far(each) for name, each in rows.items()}]


def _far(rows: pa.Table) -> pa.Table:
    """Its first tuple, moved past all windows."""
    moved = pa.array([_FAR_US]).cast(rows["ts"].type)
    return rows.slice(0, 1).set_column(0, rows.schema.field("ts"), moved)
