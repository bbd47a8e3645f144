"""Grub's figure 13 on Spark: harvesting and RandomDrop, with five lagged streams.

As embedded, CPU time is what the join has compared. A micro-batch is two and a half seconds of stream time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import inf

import pyarrow as pa

import dovetail as dv
from experiments.grub_runs import WINDOW_S, Setting, keeping, kept_of, streams_of
from experiments.grub_streams import joining
from experiments.outcome import Outcome
from experiments.overload import near_query
from experiments.spark.jobs import metered
from experiments.spark.session import cut, fed, played

_STEP_S = 2.5


@dataclass(frozen=True)
class _Played:
    """Per second after warming up: results, comparisons."""

    results: float
    compared: float


def figure_13(quick: bool) -> Outcome:
    """Five lagged streams at 100 tuples/s on a server that can just join three of them; one bucket."""
    seconds = 30.0 if quick else 60.0
    base = Setting(rates=(100.0,), seconds=seconds, step_s=_STEP_S)
    three, five = joining(base, 3), joining(base, 5)
    capacity = _harvested(three, inf).compared
    ours, theirs = _harvested(five, capacity), _dropped(five)
    gained = ours.results / theirs.results - 1
    return Outcome(
        "grub-13",
        "Gain over the number of streams, on Spark",
        "The more streams, the more harvesting gains over RandomDrop; five lagged ones up to 700 %.",
        paper={"gain, lagged, 5 streams": 7.0},
        ours={
            "gain, lagged, 5 streams": gained,
            "results/s of five streams, harvest and RandomDrop": f"{ours.results:.0f} {theirs.results:.0f}",
            "comparisons of five streams, of what can be made": ours.compared / capacity,
        },
        checks={
            "harvesting gains": gained > 0,
            "five lagged streams gain 700 % or more": gained >= 7.0,
            "not more is compared than can be (by a tenth)": ours.compared <= 1.1 * capacity,
        },
        differences=(
            f"{seconds:.0f} s of stream in micro-batches of {_STEP_S:g} s, in one bucket, one seed. The clock is that "
            "of the streams, and CPU time is what the join inside Spark's stateful operator has compared.",
        ),
    )


def _harvested(setting: Setting, capacity: float) -> _Played:
    budget = dv.budget(cpu=1.0, policy=dv.harvest(interval="5 seconds", slice=f"{setting.slice_s} seconds"))
    return _joined(setting, near_query(setting.names, WINDOW_S, budget, partitions=1), streams_of(setting), capacity)


def _dropped(setting: Setting) -> _Played:
    """RandomDrop's keep rates, applied before the join."""
    kept = kept_of(streams_of(setting), keeping(setting))
    return _joined(setting, near_query(setting.names, WINDOW_S, None, partitions=1), kept)


def _joined(
    setting: Setting, query: dv.Query, streams: Mapping[str, pa.Table], capacity: float | None = None
) -> _Played:
    ends = [_STEP_S * number for number in range(1, round(setting.seconds / _STEP_S) + 1)]
    job = {} if capacity is None else {"job": metered(capacity)}
    batches = played(partial(fed, query), cut(streams, ends), step_s=_STEP_S, **job)
    warm, after = round(setting.warm_s / _STEP_S), setting.seconds - setting.warm_s
    results = sum(report["results"] for reports in batches[warm:] for report in reports)
    compared = [reports[0]["engine"].get("compared", 0) for reports in (batches[warm - 1], batches[-1])]
    return _Played(results / after, (compared[1] - compared[0]) / after)
