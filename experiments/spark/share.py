"""Share's figure 8 on Spark: seven windows, three schedules; a micro-batch is a burst of arrivals.

The operator that the queries share runs in Spark's stateful operator, an arrival at a time. A piece of work takes as
long as the tuples of its key that it meets, and what it makes certain leaves when it ends; response times are counted
from the beginning of the batch, in tuples met.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pyarrow as pa

import dovetail as dv
from experiments.outcome import Curve, Outcome, Panel
from experiments.spark.jobs import Staged
from experiments.spark.session import Batch, Frames, cut, played
from experiments.waiting import SCHEDULES, windows_named

_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
_RATE, _KEYS = 100.0, 50
_SHORTER = 10  # windows, and keys, are such a part of the paper's: as many matches per arrival, and less to load
_BURST_S = 0.25  # of both streams: 50 arrivals
_DISTRIBUTIONS = ("Mostly-Large", "Small-Large")


def figure_8(quick: bool) -> Outcome:
    """Bursts of 50 arrivals once the windows are full; average and maximum per window."""
    bursts = 2 if quick else 5
    found = {d: {s: _left(d, s, bursts) for s in SCHEDULES} for d in _DISTRIBUTIONS}
    mean = {d: {s: each[0] for s, each in found[d].items()} for d in found}
    most = {d: {s: each[1] for s, each in found[d].items()} for d in found}
    flat = {d: max(mean[d]["LWO"]) / min(mean[d]["LWO"]) for d in found}
    large, both = mean["Mostly-Large"], mean["Small-Large"]
    return Outcome(
        "share-8",
        "Average and maximum response time per window, on Spark",
        "LWO is flat over windows; SWF is best for small windows and poor for large ones; Greedy is like SWF for small "
        "windows and like LWO for large ones.",
        paper={},
        ours={
            **{f"LWO, largest over smallest average, {d}": ratio for d, ratio in flat.items()},
            "SWF over LWO, largest window, Mostly-Large": large["SWF"][-1] / large["LWO"][-1],
            "Greedy over LWO, largest window, Small-Large": both["Greedy"][-1] / both["LWO"][-1],
            "Greedy over SWF, three smallest windows, Small-Large": sum(both["Greedy"][:3]) / sum(both["SWF"][:3]),
            **{
                f"{d}, {s}: averages, tuples met": " ".join(f"{one:.0f}" for one in mean[d][s])
                for d in found
                for s in SCHEDULES
            },
        },
        checks=_checks(mean, most, flat),
        panels=tuple(
            _panel(d, which, each[d]) for which, each in (("average", mean), ("maximum", most)) for d in found
        ),
        differences=(
            f"{bursts} bursts of 50 arrivals, each to a server that has nothing else to do: a micro-batch is a burst. "
            f"Windows and keys are a tenth of the paper's, 100 tuples/s per stream, one bucket.",
        ),
    )


def _checks(
    mean: Mapping[str, Mapping[str, list[float]]],
    most: Mapping[str, Mapping[str, list[float]]],
    flat: Mapping[str, float],
) -> dict[str, bool]:
    """Those of the embedded figure."""
    large, both = mean["Mostly-Large"], mean["Small-Large"]
    return {
        "LWO is flat: averages over windows differ by less than 15 %": all(ratio < 1.15 for ratio in flat.values()),
        "SWF is better than LWO for the three smallest windows": all(
            each["SWF"][at] < each["LWO"][at] for each in mean.values() for at in range(3)
        ),
        "SWF is worst for the two largest windows of Mostly-Large": all(
            large["SWF"][at] > max(large["Greedy"][at], large["LWO"][at]) for at in (5, 6)
        ),
        "LWO beats Greedy on Mostly-Large for all but the two smallest": all(
            (large["LWO"][at] < large["Greedy"][at]) == (at >= 2) for at in range(7)
        ),
        "on Small-Large Greedy is within 10 % of LWO from 300 s on, and quicker below": all(
            both["Greedy"][at] < (1.1 if at >= 3 else 1.0) * both["LWO"][at] for at in range(7)
        ),
        "Greedy's maximum is below SWF's for the largest window": all(
            each["Greedy"][-1] < each["SWF"][-1] for each in most.values()
        ),
    }


def _left(distribution: str, schedule: str, bursts: int) -> tuple[list[float], list[float]]:
    """Of each window, the average and the largest number of tuples met before a result left."""
    windows = windows_named(distribution)

    def shared(frames: Frames) -> dv.SharedQuery:
        return dv.share(*(_query(each / _SHORTER, frames) for each in windows), schedule=SCHEDULES[schedule])

    reports = played(shared, _batches(windows[-1] / _SHORTER, bursts), Staged)[1:]
    told = [report["engine"]["left"] for batch in reports for report in batch]
    named = [f"{each / _SHORTER:g}" for each in windows]
    counts, sums = ([sum(left[name][at] for left in told if name in left) for name in named] for at in (0, 1))
    longest = [max(left[name][2] for left in told if name in left) for name in named]
    return [total / count for total, count in zip(sums, counts, strict=True)], longest


def _query(window_s: float, frames: Frames) -> dv.Query:
    a, b = (dv.stream(name, frames[name], time="ts") for name in "AB")
    joined = dv.join(a, b, on="A.k = B.k", select="A.k", window=f"{window_s} s", order="hold", partitions=1)
    return joined.named(f"{window_s:g}")


@cache
def _batches(window_s: float, bursts: int) -> list[Batch]:
    """One micro-batch that fills the largest window, then the bursts; the same for all schedules."""
    random, end_s = np.random.default_rng(1), window_s + bursts * _BURST_S
    streams = {}
    for name in "AB":
        times = np.sort(random.integers(0, round(end_s * 1e6), round(_RATE * end_s)))
        keys = random.integers(0, _KEYS, len(times))
        streams[name] = pa.table([pa.array(times).cast(pa.timestamp("us")), pa.array(keys)], schema=_SCHEMA)
    return cut(streams, [window_s + number * _BURST_S for number in range(bursts + 1)])


def _panel(distribution: str, which: str, values: Mapping[str, list[float]]) -> Panel:
    at = [each / _SHORTER for each in windows_named(distribution)]
    curves = tuple(Curve(schedule, at, each) for schedule, each in values.items())
    return Panel(f"{distribution}: window, s", f"{which} response, tuples met", curves, log_y=True)
