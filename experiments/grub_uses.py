"""Grub's application: two joins with long windows, in the place of DAC (17)."""

from functools import cache

import numpy as np
import pyarrow as pa

import dovetail as dv
from experiments.outcome import Curve, Outcome, Panel
from experiments.overload import Load, Served, served

_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "agent": pa.int64()})
_MINUTE = 60.0


def figure_17(quick: bool) -> Outcome:
    """Claims and agents joined over 60 and over 20 minutes; claims name an agent reported 5 minutes before."""
    shed = (0.0, 0.2, 0.35, 0.6, 0.9) if quick else (0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    windows = {"first join (60 min)": 60.0, "second join (20 min)": 20.0}
    kept = {name: _kept(minutes, shed, quick) for name, minutes in windows.items()}
    falls = {name: next((s for s, k in zip(shed, each, strict=True) if k < 0.95), None) for name, each in kept.items()}
    first, second = kept.values()
    return Outcome(
        "grub-17",
        "Two joins with long windows while more and more load is shed",
        "Up to 35 % of load shed both joins give all results; from there the one with the shorter window loses some, "
        "the one with the longer window does not yet.",
        paper={"second join loses results from, % shed": 35},
        ours={
            "first join loses results from, % shed": _percent(falls["first join (60 min)"]),
            "second join loses results from, % shed": _percent(falls["second join (20 min)"]),
            "first join keeps at 90 % shed": first[-1],
            "second join keeps at 90 % shed": second[-1],
        },
        checks={
            "up to 20 % shed both keep 95 % or more": min(first[shed.index(0.2)], second[shed.index(0.2)]) >= 0.95,
            "the longer window keeps 95 % at 35 %, too": first[shed.index(0.35)] >= 0.95,
            "at 90 % the longer window keeps more of its results": first[-1] >= second[-1],
        },
        panels=(
            Panel(
                "load shed", "share of the full join's results", tuple(Curve(n, shed, each) for n, each in kept.items())
            ),
        ),
        differences=(
            "DAC's data are not public; ours are two streams of unique agents and of claims that each name one agent, "
            "reported about 5 minutes (deviation 1) before, at one tuple per second.",
        ),
    )


def _percent(share: float | None) -> str:
    return "not up to 90" if share is None else f"{100 * share:.0f}"


def _kept(minutes: float, shed: tuple[float, ...], quick: bool) -> list[float]:
    seconds = (minutes + (40 if quick else 90)) * _MINUTE
    everything = _reported(minutes, seconds, 1e15)
    return [
        _reported(minutes, seconds, everything.compared * (1 - s) + 1e-9).results / everything.results for s in shed
    ]


@cache
def _reported(minutes: float, seconds: float, capacity: float) -> Served:
    random = np.random.default_rng(17)
    count = int(seconds)
    agents = np.arange(count)
    lag = np.clip(random.normal(5 * _MINUTE, _MINUTE, count), 0, None)
    named = np.clip(agents - lag.astype(np.int64), 0, None)
    tables = {"Agents": _timed(agents * 1_000_000, agents), "Claims": _timed(agents * 1_000_000 + 500_000, named)}
    streams = [dv.stream(name, time="ts", window=f"{minutes:.0f} minutes", schema=_SCHEMA) for name in tables]
    policy = dv.harvest(interval="60 seconds", slice=f"{minutes * 3:.0f} seconds")
    query = dv.join(
        *streams,
        on="Agents.agent = Claims.agent",
        select="Claims.agent",
        algorithm=dict.fromkeys(tables, "scan"),
        budget=dv.budget(cpu=1.0, policy=policy),
    )
    return served(Load(tables, query, seconds, warm_s=(minutes + 20) * _MINUTE, step_s=10.0), capacity)


def _timed(times: np.ndarray, agents: np.ndarray) -> pa.Table:
    return pa.table([pa.array(times).cast(pa.timestamp("us")), pa.array(agents)], schema=_SCHEMA)
