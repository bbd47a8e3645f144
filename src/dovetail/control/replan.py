"""When a running join should be planned anew: statistics in, a plan out, or none because the old one will do.

A new plan is only looked for when rates, windows or matches per probe have drifted by a fifth or more since the last
look (keys that change show in the matches). It is only taken up if it wins twice in a row, or costs a quarter, saves a
twentieth of what the two do differently, and pays for building its indexes within a few seconds of the streams' time.
So plans neither flutter between two that are about equal nor follow every burst. Plans of many streams take a while to
make, so there is a rest between two looks at them, see ``rest``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from dovetail.control.rest import Rest
from dovetail.engine.operator.readings import Readings
from dovetail.model.decision import Decision
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics
from dovetail.model.window import length_s
from dovetail.plan.calibrate import load_weights
from dovetail.plan.choose_plan import Planner, decision_of
from dovetail.plan.cost import Weights, stored, work
from dovetail.plan.physical import Plan

DRIFT = 1.2  # a fifth: smaller changes are within what a reading is wrong by
GAIN = 0.95  # a twentieth: predictions are not better than that
AT_ONCE = 0.25  # a plan that costs no more than this share need not win twice
PAYBACK_S = 5.0  # of the streams' time: conditions last longer than that, or the plan is not worth it
FILLED = 0.25  # of what rate and width say; half-empty windows between two blocks are normal
FEW_MATCHES = 0.1  # per probe; below it, twice as many change the cost by next to nothing
_PLAN_S = 0.0002  # what it takes to plan, by the cube of the number of streams: 0.1 s for eight
_QUICK = 4  # streams up to which planning takes too little to rest


class Replan:
    """The memory between two looks; ``drifted``: the last found something new; ``undecided``: it left a question."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._seen: dict[object, float] = {}
        self._favourite: Plan | None = None
        self.undecided, self.drifted = True, False

    def decide(self, now: Plan, glance: Statistics, look: Callable[[], Statistics]) -> Plan | None:
        """The plan to go on with; None: the one that runs. If the ``glance`` shows no drift, a ``look`` is spared."""
        self.undecided, self.drifted = True, False
        if not is_representative(now.query, glance):
            return None
        self.drifted = self._drifted(glance)
        if not self.drifted and self._favourite is None:
            self.undecided = False
            return None
        known = look()
        best = self._planner.choose(known)
        share = self._share(now, best, known)
        if share >= GAIN:
            self._favourite = None
            return None
        won_before, self._favourite = best is self._favourite, best
        if not won_before and share > AT_ONCE:
            return None
        self._favourite = None
        return best

    def _drifted(self, known: Statistics) -> bool:
        fresh = dict(_readings(known))
        if fresh.keys() == self._seen.keys() and all(alike(fresh[name], self._seen[name]) for name in fresh):
            return False
        self._seen = fresh
        return True

    def _share(self, now: Plan, best: Plan, known: Statistics) -> float:
        """What the best plan costs beside the one that runs; all of it, if it does not pay for its indexes."""
        if decision_of(best) == decision_of(now):
            return 1.0
        before, after = self._apart(work(now, known), work(best, known))
        return after / before if self._rebuilding(now, best, known) < (before - after) * PAYBACK_S else 1.0

    def _apart(self, before: Mapping[str, float], after: Mapping[str, float]) -> tuple[float, float]:
        """The costs of two plans, without the work that both do alike."""
        differs = [term for term in before.keys() | after.keys() if before.get(term, 0.0) != after.get(term, 0.0)]
        one, other = ({term: work.get(term, 0.0) for term in differs} for work in (before, after))
        return self._planner.weights.cost(one), self._planner.weights.cost(other)

    def _rebuilding(self, now: Plan, best: Plan, known: Statistics) -> float:
        """Seconds it takes to index the windows that change."""
        total = 0.0
        for name, storage in best.storage.items():
            stream = known.streams[name]
            if storage.algorithm != now.storage[name].algorithm and stream.rate:
                inserted = dict(stored(storage.algorithm, stream))
                total += self._planner.weights.cost(inserted) / stream.rate * stream.tuples
        return total


def is_representative(query: JoinQuery, known: Statistics) -> bool:
    """Whether every stream has been heard and its window is about as full as its rate and its time so far say.

    Long blocks run ahead of each other: between them a stream looks silent, or its window nearly empty, and a scan
    would look like the best plan for it.
    """
    for stream in query.streams:
        seen = known.streams[stream.name]
        width_s = length_s(stream.window) or 0.0
        if known.seen_s is not None:
            width_s = min(width_s, known.seen_s)
        if not seen.rate or seen.tuples < FILLED * seen.rate * width_s:
            return False
    return True


def _readings(known: Statistics) -> Iterator[tuple[object, float]]:
    for name, stream in known.streams.items():
        yield ("rate", name), stream.rate
        yield ("tuples", name), stream.tuples
    # matches too few to matter are also too few to be measured well: that they come and go is no drift
    yield from ((tie, FEW_MATCHES + matches) for tie, matches in known.fanouts.items())


def alike(one: float, other: float) -> bool:
    """Whether neither is a fifth or more above the other."""
    return one <= other * DRIFT and other <= one * DRIFT


class Replanning:
    """Replans one operator whenever it has taken a reading; with this machine's weights or others.

    What it has seen of the streams is not kept over a restart: it is measured again within seconds.
    """

    def __init__(self, query: JoinQuery, weights: Weights | None = None) -> None:
        self._control = Replan(Planner(query, weights or load_weights()))
        streams = len(query.names)
        self._rest = Rest(_PLAN_S * streams**3 if streams > _QUICK else 0.0)
        self._readings = 0

    def decide(self, readings: Readings, decision: Decision) -> Decision:
        """The decision with another plan, if one is clearly cheaper; asked after every reading."""
        observed = readings.observed
        if observed.readings == self._readings or not self._rest.over:
            return decision
        self._readings = observed.readings
        if decision.shed.picks is not None:
            return decision  # what slices promise was learned along these orders
        with self._rest.search():
            plan = self._control.decide(readings.plan, observed.glance(), observed.statistics)
        observed.curious = self._control.undecided
        if self._control.drifted:
            observed.startle()
        if plan is None:
            return decision
        found = decision_of(plan, decision.version + 1)
        return replace(found, waits=decision.waits, shed=decision.shed, pace=decision.pace, load=decision.load)
