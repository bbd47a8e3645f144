"""When a running query should be split into other operators: statistics in, a tree out, or the one that runs.

As in ``replan``: a search is only made when rates, windows or keys have drifted since the last one, and its tree is
only taken up if it wins twice in a row, costs at most four fifths of the shape that runs, and pays for dealing the
stored tuples out again within ten seconds of the streams' time. A search for many streams takes a while, so there is a
rest before it, see ``rest``, unless the one before found another tree.
"""

from collections.abc import Sequence
from dataclasses import replace

from dovetail.control.replan import alike, is_representative
from dovetail.control.rest import Rest
from dovetail.engine.operator.readings import Readings
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics
from dovetail.model.tree import Tree
from dovetail.plan.cost import Weights
from dovetail.plan.split_operator import CLEARLY, best_tree, shape_cost

_PAYBACK_S = 10.0  # twice that of a new plan: all stored tuples are dealt out again
_SEARCH_S = {3: 0.0, 4: 0.1, 5: 0.6, 6: 2.4, 7: 6.0, 8: 20.0}  # by streams of one key, measured; of three it is 0.02 s
_GREEDY_S = 2.0  # of nine streams and more, which are not searched as a whole


class Reshape:
    """The memory between two looks."""

    def __init__(self, query: JoinQuery, weights: Weights) -> None:
        self._query, self._weights = query, weights
        self._readings = -1
        self._seen: dict[object, float] = {}
        self._favourite: Tree | None = None
        self._settled = True
        self._rest = Rest(_SEARCH_S.get(len(query.names), _GREEDY_S))

    def decide(self, now: Tree | None, readings: Sequence[Readings]) -> Tree | None:
        """The tree to go on with; None: one operator for all streams."""
        count = sum(each.observed.readings for each in readings)
        if count == self._readings or not all(each.observed.ready for each in readings):
            return now
        self._readings = count
        known = together(self._query, readings)
        rests = self._settled and not self._rest.over
        if rests or not is_representative(self._query, known) or not self._drifted(known):
            return now
        with self._rest.search():
            return self._better(now, known)

    def _better(self, now: Tree | None, known: Statistics) -> Tree | None:
        tree, cost = best_tree(self._query, known, self._weights)
        running = shape_cost(self._query, now, known, self._weights)
        moved = sum(stream.tuples for stream in known.streams.values())
        rate = sum(stream.rate for stream in known.streams.values())
        pays = cost <= CLEARLY * running and cost * moved / max(rate, 1e-9) < (running - cost) * _PAYBACK_S
        if tree == now or not pays:
            self._settled = True
            return now
        won_before, self._favourite, self._settled = not self._settled and tree == self._favourite, tree, False
        if not won_before:
            return now
        self._settled = True
        return tree

    def _drifted(self, known: Statistics) -> bool:
        fresh: dict[object, float] = {("rate", name): stream.rate for name, stream in known.streams.items()}
        fresh |= {("tuples", name): stream.tuples for name, stream in known.streams.items()}
        fresh |= {("keys", key): count for key, count in known.keys.items()}
        same = fresh.keys() == self._seen.keys() and all(alike(fresh[name], self._seen[name]) for name in fresh)
        if same and self._settled:
            return False
        self._seen = fresh
        return True


def together(query: JoinQuery, readings: Sequence[Readings]) -> Statistics:
    """What all operators know about the query's own streams."""
    found = [each.observed.statistics() for each in readings]
    names = set(query.names)
    streams = {name: stream for each in found for name, stream in each.streams.items() if name in names}
    counted = [(key, count) for each in found for key, count in each.keys.items()]
    # a key that only an operator above compares is counted among intermediate results: "(A, B).A.j" is A.j there
    keys = {key.rpartition(").")[2]: count for key, count in counted if key.startswith("(")}
    keys |= {key: count for key, count in counted if not key.startswith("(")}
    shares = {tie: share for each in found for tie, share in each.selectivities.items() if {*tie[0], tie[1]} <= names}
    whole = {name: streams[name] for name in query.names}
    return replace(Statistics(whole, keys, shares), seen_s=min(each.seen_s or 0.0 for each in found))
