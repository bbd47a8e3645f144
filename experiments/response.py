"""Response times of input tuples on a simulated clock: two streams, one server, the real join.

A tuple is completely processed once it has been joined and its output may leave: when both streams
have shown a time as large as its own. Which tuples are joined on which arrival depends on the clock
only if the order is adaptive; so ``sync`` and ``hold`` are played once and clocked for every cost.

Example: S speaks at 1, T at 0.2 and at 3; comparing two tuples takes a second. Input waits:

    >>> played = play(Streams(60, 1, 1, 10), "sync", 1.0, [arrival(0.2, "T"), arrival(1.0, "S"), arrival(3.0, "T")])
    >>> [(each.stream, round(each.seconds, 1)) for each in responses(clocked(played, 1.0))]
    [('T', 0.8), ('S', 3.0)]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from random import Random
from statistics import fmean
from typing import Any

import pyarrow as pa

import dovetail as dv
from dovetail.testing.simulate import Arrival, Log, SimulatedRun, simulate

Order = str | dv.Adaptive
_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
_KEYS = 100


@dataclass(frozen=True)
class Streams:
    """Windows and rates; S is the slow stream, T the fast one; so many seconds of both, gaps exponential or regular."""

    window_s: float
    slow: float
    fast: float
    seconds: float
    regular: bool = False


@dataclass(frozen=True)
class Turn:
    """The server turns to an arrival; then these tuples are joined, each until the moment given."""

    arrival: Arrival
    at: float
    ended: Sequence[tuple[str, int, float]]


@dataclass(frozen=True)
class Response:
    """A tuple of a stream that came in at a moment, and the seconds until it was completely processed."""

    stream: str
    at: float
    seconds: float


def arrival(at: float, stream: str, key: int = 0) -> Arrival:
    """A tuple stamped with the moment at which it comes in."""
    return Arrival(at, stream, {"ts": round(at * 1e6), "k": key})


@cache
def exponential_arrivals(streams: Streams, seed: int = 1) -> tuple[Arrival, ...]:
    """Both streams with exponential gaps, uniform keys; the same seed gives the same arrivals."""
    random = Random(seed)

    def of(stream: str, rate: float) -> Iterator[Arrival]:
        now = 0.0
        while (now := now + random.expovariate(rate) + 1e-6) < streams.seconds:
            yield arrival(now, stream, random.randrange(_KEYS))

    return tuple(sorted([*of("S", streams.slow), *of("T", streams.fast)], key=lambda each: each.at))


def regular_arrivals(streams: Streams, seed: int = 1) -> tuple[Arrival, ...]:
    """Both streams with equal gaps, one of T just after each of S, as the formulas assume; uniform keys."""
    random = Random(seed)

    def of(stream: str, rate: float, shift_s: float) -> list[Arrival]:
        count = int(streams.seconds * rate)
        return [arrival(number / rate + shift_s, stream, random.randrange(_KEYS)) for number in range(count)]

    return tuple(sorted([*of("S", streams.slow, 0.0), *of("T", streams.fast, 1e-4)], key=lambda each: each.at))


def play(streams: Streams, order: Order, compare_s: float, arrivals: Sequence[Arrival]) -> Log:
    """The real join on the simulated clock; a tuple is compared with all of the other window."""

    def service(stream: str, run: SimulatedRun) -> float:
        return compare_s * run.stored("T" if stream == "S" else "S")

    return simulate(ordered_join(streams, order), arrivals, service)


def ordered_join(streams: Streams, order: Order, partitions: int | None = None) -> dv.Query:
    """The join of both on the key."""
    window = f"{streams.window_s} seconds"
    s, t = (dv.stream(name, time="ts", window=window, schema=_SCHEMA) for name in "ST")
    options: Any = {"order": order, "partitions": partitions}
    return dv.join(s, t, on="S.k = T.k", select="S.ts AS s, T.ts AS t", **options)


def clocked(log: Log, factor: float, apart: bool = False) -> Iterator[Turn]:
    """What was played, on a clock by which every tuple takes ``factor`` times as long.

    ``apart``: every stream has a server of its own, and none waits for the other's.
    """
    joined = {turn: list(works) for turn, works in groupby(log.processed, key=lambda work: work.turn)}
    free: dict[str, float] = {}
    for number, seen in enumerate(log.seen, start=1):
        server = seen.arrival.stream if apart else ""
        at = free[server] = max(free.get(server, 0.0), seen.arrival.at)
        ended = []
        for work in joined.get(number, ()):
            free[server] += factor * (work.ended - work.began)
            ended.append((work.stream, work.time_us, free[server]))
        yield Turn(seen.arrival, at, ended)


def responses(turns: Iterator[Turn]) -> list[Response]:
    """Of every tuple that was completely processed."""
    latest: dict[str, int] = {}
    arrived: dict[tuple[str, int], float] = {}
    joined: list[tuple[str, int, float]] = []
    completed: list[Response] = []
    for turn in turns:
        stream, time_us = turn.arrival.stream, turn.arrival.row["ts"]
        arrived[stream, time_us] = turn.arrival.at
        latest[stream] = time_us
        joined += turn.ended
        if len(latest) == 2:
            trigger = min(latest.values())
            # ended earlier: held since then, may leave now; ended in this turn: leaves when done
            done = [(name, arrived[name, time], max(end, turn.at)) for name, time, end in joined if time <= trigger]
            completed += [Response(name, came, left - came) for name, came, left in done]
            joined = [work for work in joined if work[1] > trigger]
    return completed


def mean_response(streams: Streams, order: Order, compare_s: float) -> float:
    """The average over all tuples of both streams."""
    return fmean(each.seconds for each in _responses(streams, order, compare_s))


def response_apart(streams: Streams, order: Order, compare_s: float) -> float:
    """The average if every stream has a server of its own."""
    turns = clocked(_played(streams, order, 1e-6), compare_s / 1e-6, apart=True)
    return fmean(each.seconds for each in responses(turns))


def steady_response(streams: Streams, order: Order, compare_s: float, of: str = "ST") -> float:
    """The average over tuples of these streams that came once the windows were full."""
    found = _responses(streams, order, compare_s)
    return fmean(each.seconds for each in found if each.at > 1.3 * streams.window_s and each.stream in of)


def _responses(streams: Streams, order: Order, compare_s: float) -> list[Response]:
    adaptive = isinstance(order, dv.Adaptive)
    log = _played(streams, order, compare_s if adaptive else 1e-6)
    return responses(clocked(log, 1.0 if adaptive else compare_s / 1e-6))


def held_share(streams: Streams, order: dv.Adaptive, compare_s: float) -> float:
    """The part of the time that the adaptive order let output wait, and not input."""
    modes = _played(streams, order, compare_s).modes
    ends = [at for at, _ in modes[1:]] + [streams.seconds]
    held = sum(max(end - at, 0.0) for (at, mode), end in zip(modes, ends, strict=True) if mode == "hold")
    return held / streams.seconds


@cache
def _played(streams: Streams, order: Order, compare_s: float) -> Log:
    arrivals = regular_arrivals(streams) if streams.regular else exponential_arrivals(streams)
    return play(streams, order, compare_s, arrivals)
