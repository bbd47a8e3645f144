"""What a plan costs: how often each kind of work is done per second, times what it takes on this machine.

``work`` counts, ``Weights`` says how many seconds one of each takes (measured once per machine, see ``calibrate``):

    blocks        every block, every step of its probe, every block that has results, every look for what has left
    tuples        every arrival; into a hash index; sorted into runs and merged with older ones
    hash          a look into the index, and a step along the chain for every stored tuple of that key (bands: cell)
    scan          two binary searches, every tuple in time, and matches among others (which no processor foresees)
    sorted        a binary search per run, and every candidate found
    candidates    each one found that must still be checked, and what it is made into before that
    results       each combination made on the way, each result, each of its columns

Far memory costs more than near: looks and steps into a window larger than the nearest cache count once more as
``far``, by its doublings, and into one larger than all caches as ``remote``.
Expiry is a term of blocks only (``forget``), because our windows forget by moving a mark; in the paper's model
every tuple that leaves walks its bucket.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log2

from dovetail.model.algorithm import Algorithm
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.plan.estimate import LevelEstimate, key_selectivity, steps_along
from dovetail.plan.join_graph import close_equalities
from dovetail.plan.physical import (
    AnyAccess,
    BandAccess,
    KeyAccess,
    Level,
    PairAccess,
    Plan,
    SimilarityAccess,
    TimeAccess,
)

Steps = Mapping[str, Sequence[LevelEstimate]]  # of the probes of each arriving stream
NEAR_TUPLES, REMOTE_TUPLES = 1 << 11, 1 << 17  # about what the first cache, and all caches of a core, hold
LINE = 8  # neighbours in memory that come along with a tuple
STRETCH = 256  # a scan counts matches in stretches of so many tuples, and looks again only where it found some

# Seconds, measured on an ordinary machine of 2024; ``calibrate`` replaces them by this one's.
TYPICAL: Mapping[str, float] = {
    "block": 40e-6,
    "block_stream": 13e-6,
    "forget": 2e-6,
    "level": 44e-6,
    "result_block": 55e-6,
    "tuple": 15e-9,
    "hash_insert": 3e-9,
    "hash_insert_far": 1e-9,
    "hash_insert_remote": 3e-9,
    "sorted_block": 55e-6,
    "sorted_insert": 7e-9,
    "sorted_merge": 3e-9,
    "hash_probe": 12e-9,
    "hash_probe_far": 8e-9,
    "hash_probe_remote": 12e-9,
    "hash_step": 3.5e-9,
    "hash_step_far": 1.5e-9,
    "hash_step_remote": 20e-9,
    "cell_probe": 90e-9,
    "cell_probe_far": 8e-9,
    "cell_probe_remote": 8e-9,
    "cell_step": 10e-9,
    "scan_look": 8e-9,
    "scan_probe": 4e-9,
    "scan_tuple": 0.6e-9,
    "scan_again": 1.4e-9,
    "scan_found": 9e-9,
    "band_tuple": 1.4e-9,
    "sorted_level": 60e-6,
    "sorted_probe": 7e-9,
    "sorted_probe_far": 2.5e-9,
    "sorted_probe_remote": 3e-9,
    "sorted_step": 2.5e-9,
    "sorted_step_far": 0.6e-9,
    "sorted_step_remote": 1.5e-9,
    "similar_pair": 40e-9,
    "all_tuple": 1e-9,
    "check": 100e-9,
    "match": 18e-9,
    "match_far": 1.4e-9,
    "match_remote": 5e-9,
    "result": 3e-9,
    "result_column": 2e-9,
}


@dataclass(frozen=True)
class Weights:
    """Seconds per unit of each kind of work, and where they come from."""

    seconds: Mapping[str, float] = field(default_factory=lambda: dict(TYPICAL))
    origin: str = "typical values, not measured on this machine"

    def cost(self, work: Mapping[str, float]) -> float:
        """Seconds for so much work."""
        return sum(self.seconds[term] * amount for term, amount in work.items())


def cost(plan: Plan, known: Statistics, weights: Weights) -> float:
    """Seconds of work per second of event time: above 1 the join falls behind."""
    return weights.cost(work(plan, known))


def work(plan: Plan, known: Statistics) -> dict[str, float]:
    """How often each kind of work is done per second of event time."""
    steps = steps_of(plan, known)
    names = plan.query.names
    return _sum(term for n in names for term in (*_arriving(plan, known, n, steps[n]), *_window(plan, n, known, steps)))


def window_work(plan: Plan, name: str, known: Statistics, steps: Steps) -> dict[str, float]:
    """The part of it that depends on how one stream is stored; ``steps``: those of the plan."""
    return _sum(_window(plan, name, known, steps))


def _sum(terms: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for term, amount in terms:
        total[term] += amount
    return dict(total)


def _window(plan: Plan, name: str, known: Statistics, steps: Steps) -> Iterator[tuple[str, float]]:
    """A stream's tuples entering and leaving its window, and all others' probes of it."""
    yield from stored(plan.storage[name].algorithm, known.streams[name])
    asks = (other for other in known.streams if other in plan.probes and (other != name or not plan.storage[name].lazy))
    yield "forget", sum(known.streams[other].rate / known.streams[other].block for other in asks)
    for arriving, levels in plan.probes.items():
        stream = known.streams[arriving]
        for level, step in zip(levels, steps[arriving], strict=True):
            if level.stream == name:
                yield from probed(plan, known, level, step, stream)


def steps_of(plan: Plan, known: Statistics) -> Steps:
    """The steps of all probes; they depend on the orders alone."""
    predicates = close_equalities(plan.query.predicates)
    orders = {name: [level.stream for level in levels] for name, levels in plan.probes.items()}
    return {name: steps_along(known, predicates, name, order) for name, order in orders.items()}


def stored(algorithm: Algorithm, stream: StreamStatistics) -> Iterator[tuple[str, float]]:
    """Bringing a stream's tuples into the index of its window."""
    if algorithm == "hash":
        yield "hash_insert", stream.rate
        yield from _away("hash_insert", stream.rate, stream.tuples)
    if algorithm == "sorted":
        yield "sorted_block", stream.rate / stream.block
        yield "sorted_insert", stream.rate * log2(stream.block + 1)
        yield "sorted_merge", stream.rate * log2(1 + stream.tuples / stream.block)


def _arriving(
    plan: Plan, known: Statistics, arriving: str, steps: Sequence[LevelEstimate]
) -> Iterator[tuple[str, float]]:
    """What a stream's tuples cost whatever the structures: blocks, steps, matches, results."""
    stream = known.streams[arriving]
    blocks, results = stream.rate / stream.block, steps[-1].found
    yield "tuple", stream.rate
    yield "block", blocks
    yield "block_stream", blocks * len(plan.query.names)
    for step in steps:
        yield "level", blocks * min(1.0, step.looks * stream.block)
        yield "match", step.found * stream.rate
        yield from _away("match", step.found * stream.rate, step.met.held)
    yield "result_block", blocks * min(1.0, results * stream.block)
    yield "result", results * stream.rate
    yield "result_column", results * stream.rate * len(plan.query.select)


def probed(
    plan: Plan, known: Statistics, level: Level, step: LevelEstimate, stream: StreamStatistics
) -> Iterator[tuple[str, float]]:
    """One step of the probes of an arriving stream."""
    access, tuples = level.access, step.met.held
    looks, in_time, share = step.looks * stream.rate, step.met.in_time, _candidates(known, level, step)
    found = looks * share * in_time
    yield "check", found * len(level.checks)
    yield "match", found - step.found * stream.rate
    blocks = stream.rate / stream.block * min(1.0, step.looks * stream.block)
    if isinstance(access, SimilarityAccess):
        yield "similar_pair", looks * in_time
    elif isinstance(access, KeyAccess | BandAccess) and not access.indexed:
        yield "scan_probe", looks * log2(tuples + 1)
        yield "scan_tuple" if isinstance(access, KeyAccess) else "band_tuple", looks * in_time
        yield "scan_look", looks
        yield "scan_again", looks * in_time * (1 - exp(-STRETCH * share))
        yield "scan_found", found * (1 - share)
    elif isinstance(access, AnyAccess):
        options = looks * len(access.options)
        yield "hash_probe", options
        yield "hash_step", found + options * (share * step.met.ahead + _strangers(tuples))
        yield from _away("hash_probe", options, tuples)
    elif isinstance(access, BandAccess) and access.cells is not None:
        yield "cell_probe", looks
        yield from _away("cell_probe", looks, tuples)
        yield "cell_step", 1.5 * (found + looks * share * step.met.ahead) + looks
    elif isinstance(access, KeyAccess) and plan.storage[level.stream].algorithm == "hash":
        walked = found + looks * (share * step.met.ahead + _strangers(tuples))
        yield "hash_probe", looks
        yield "hash_step", walked
        yield from _away("hash_probe", looks, tuples)
        yield from _away("hash_step", walked / max(1.0, LINE * share), tuples)
    elif isinstance(access, KeyAccess | BandAccess | PairAccess):
        runs = 1 + log2(1 + tuples / known.streams[level.stream].block)
        yield "sorted_level", blocks
        yield "sorted_probe", looks * runs * log2(2 + tuples / runs)
        yield from _away("sorted_probe", looks, tuples)
        walked = looks * share * step.met.held
        yield "sorted_step", walked
        yield from _away("sorted_step", walked, tuples)
    else:
        yield "all_tuple", looks * in_time


def _candidates(known: Statistics, level: Level, step: LevelEstimate) -> float:
    """The share of a window's tuples that an access finds; the checks of its level leave the step's selectivity."""
    if isinstance(level.access, KeyAccess) and level.checks:
        return max(step.selectivity, key_selectivity(known, level, level.access))
    return 1.0 if isinstance(level.access, TimeAccess) else step.selectivity


def _strangers(tuples: float) -> float:
    """Tuples of other keys met in a chain: there are about as many buckets as there is room for tuples."""
    return 0.5 if tuples >= 1 else 0.0


def _away(work: str, amount: float, tuples: float) -> Iterator[tuple[str, float]]:
    """What work in a window of this size costs more than in a small one."""
    yield f"{work}_far", amount * log2(min(max(1.0, tuples / NEAR_TUPLES), REMOTE_TUPLES / NEAR_TUPLES))
    yield f"{work}_remote", amount * log2(max(1.0, tuples / REMOTE_TUPLES))
