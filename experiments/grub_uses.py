"""Grub's application: two joins with long windows and strong time correlation, in the place of DAC (17).

Claims and the agents they name are reported within minutes of each other, in either order; the windows are an hour and
two thirds of one.
"""

from functools import cache

import numpy as np
import pyarrow as pa

import dovetail as dv
from experiments.outcome import Cause, Curve, Mark, Outcome, Panel
from experiments.overload import Load, Served, served

_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "agent": pa.int64()})
_MINUTE = 60.0
_APART, _WEAKER = 8 * _MINUTE, 12 * _MINUTE
_SAMPLED, _NOISE = 0.1, 0.03
_ELSE = f"first and second join with a deviation of {_WEAKER / _MINUTE:.0f} minutes lose results from, %"
_AT_35 = "the shorter window loses some at 35 %"


def figure_17(quick: bool) -> Outcome:
    """Agents and claims joined over 60 and over 40 minutes, with the throttle held at what is not shed."""
    shed = (0.0, 0.2, 0.35, 0.6, 0.9) if quick else (0.0, 0.2, 0.35, 0.5, 0.6, 0.75, 0.9)
    much = shed.index(0.35)
    first, second = (_kept(minutes, shed, quick) for minutes in (60.0, 40.0))
    less = {minutes: _kept(minutes, shed, quick, _WEAKER) for minutes in (60.0, 40.0)}
    curves = Curve("first join (60 min)", shed, first), Curve("second join (40 min)", shed, second)
    return Outcome(
        "grub-17",
        "Two joins with long windows while more and more load is shed",
        "Up to 35 % of load shed both joins give all results; from there the one with the shorter window loses some, "
        "the one with the longer window does not yet.",
        paper={"second join loses results from, % shed": 35},
        ours={
            "first join loses results from, % shed": _falls(shed, first),
            "second join loses results from, % shed": _falls(shed, second),
            _ELSE: f"{_falls(shed, less[60.0])} {_falls(shed, less[40.0])}",
            **{f"first join keeps at {100 * s:.0f} % shed": first[shed.index(s)] for s in (0.35, 0.6, 0.9)},
            **{f"second join keeps at {100 * s:.0f} % shed": second[shed.index(s)] for s in (0.35, 0.6, 0.9)},
        },
        checks={
            "below 35 % shed both keep all": all(_keeps(*each) for each in zip(shed[:much], first, strict=False))
            and all(_keeps(*each) for each in zip(shed[:much], second, strict=False)),
            "the longer window keeps all at 35 %, too": _keeps(shed[much], first[much]),
            _AT_35: not _keeps(shed[much], second[much]),
            "the shorter window loses some first": _loses(shed, second) < _loses(shed, first),
            "beyond, the longer window keeps more of its results": all(
                one > other for s, one, other in zip(shed, first, second, strict=True) if s > 0.35
            ),
        },
        panels=(
            Panel(
                "load shed", "share of the full join's results", curves, (Mark("second loses from here", 0.35, 1.0),)
            ),
        ),
        differences=(
            "DAC's data are not public; ours are two streams, one tuple per second each: agents, and claims that each "
            f"name one agent, reported before or after it (deviation {_APART / _MINUTE:.0f} minutes). How strong DAC's "
            "correlation is decides from where on results are lost; the paper does not say.",
            "What counts as all: a tenth of the arrivals looks for where results lie, through the throttle's share of "
            f"the window, and so loses what is shed of its own results, {_SAMPLED * 0.35:.1%} of all at 35 %; beyond "
            f"that {_NOISE:.0%} may be lost.",
        ),
        causes=(_less_correlated(shed, less[60.0], less[40.0]),),
    )


def _less_correlated(shed: tuple[float, ...], first: list[float], second: list[float]) -> Cause:
    """Both joins with claims that are further from their agents."""
    return Cause(
        "How far apart a claim and its agent are reported, which the paper does not say. With a deviation of "
        f"{_WEAKER / _MINUTE:.0f} minutes the second join loses results from {_falls(shed, second)} % shed on, and the "
        f"first from {_falls(shed, first)} % on.",
        _loses(shed, second) == 0.35 < _loses(shed, first),
        (_AT_35,),
    )


def _keeps(shed: float, share: float) -> bool:
    """Whether a share of the results counts as all of them."""
    return share >= 1 - _SAMPLED * shed - _NOISE


def _loses(shed: tuple[float, ...], kept: list[float]) -> float:
    """From where on results are lost; 1 if they never are."""
    return next((s for s, share in zip(shed, kept, strict=True) if not _keeps(s, share)), 1.0)


def _falls(shed: tuple[float, ...], kept: list[float]) -> str:
    lost = [f"{100 * s:.0f}" for s, share in zip(shed, kept, strict=True) if not _keeps(s, share)]
    return lost[0] if lost else "not up to 90"


def _kept(minutes: float, shed: tuple[float, ...], quick: bool, apart: float = _APART) -> list[float]:
    seconds = (minutes + (50 if quick else 90)) * _MINUTE
    everything = _reported(minutes, seconds, 1.0, apart).results
    return [_reported(minutes, seconds, 1 - share, apart).results / everything for share in shed]


@cache
def _reported(minutes: float, seconds: float, throttle: float, apart: float) -> Served:
    tables = _tables(int(seconds), apart)
    streams = [dv.stream(name, time="ts", window=f"{minutes:.0f} minutes", schema=_SCHEMA) for name in tables]
    query = dv.join(
        *streams,
        on="Agents.agent = Claims.agent",
        select="Claims.agent",
        algorithm=dict.fromkeys(tables, "scan"),
        budget=dv.budget(cpu=1.0, policy=dv.harvest(interval="5 minutes", slice="2 minutes")),
    )
    warm_s = (minutes + 20) * _MINUTE
    return served(Load(tables, query, seconds, warm_s, step_s=10.0, imposed=throttle), 1e15)


def _tables(count: int, apart: float) -> dict[str, pa.Table]:
    """An agent every second; half a second later a claim, on an agent reported about then."""
    seconds = np.arange(count)
    named = seconds + np.random.default_rng(17).normal(0, apart, count).astype(np.int64)
    named = np.where((named >= 0) & (named < count), named, -1)
    return {"Agents": _timed(seconds * 1_000_000, seconds), "Claims": _timed(seconds * 1_000_000 + 500_000, named)}


def _timed(times: np.ndarray, agents: np.ndarray) -> pa.Table:
    return pa.table([pa.array(times).cast(pa.timestamp("us")), pa.array(agents)], schema=_SCHEMA)
