"""Live engines of this worker process, so that a batch costs what changed and not the whole window.

An engine is taken out while a batch runs on it and put back under the token that the batch wrote into
the state. A token is made from all that was written, so an engine counts only if the state that Spark committed is what
it wrote itself. After a failed attempt the committed token is an older one, and none is used by mistake.

    take (query, operator, bucket 2), state at "c3f1"     an engine at "c3f1": go on with it
                                                          one at "77aa", a batch behind: it catches up
                                                          one at "9b02", never committed: it stays where it is

A function given to ``foreachBatch`` that computes its rows twice runs every batch twice from the same state. So one
engine stays at what the first run has made, and another comes after it; when the batch is committed both are
at the same token, and each finds its own in the next.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from dovetail.engine.operator.contract import Operator
from dovetail.runtime.spark.spilled_state import StateParts

BucketKey = tuple[str, str, int]
_PER_BUCKET = 2  # engines of one bucket; each costs the memory of its windows


@dataclass(frozen=True)
class Cached:
    """An operator, the token of the state it agrees with, and where it finds what it has spilled."""

    token: str
    operator: Operator
    parts: StateParts


class EngineCache:
    """The most recently used engines, of at most ``limit`` buckets."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._engines: OrderedDict[BucketKey, list[Cached]] = OrderedDict()

    def checkout(self, key: BucketKey, token: str, behind: Callable[[str], bool]) -> Cached | None:
        """Remove and return the engine at a token, or else one behind it; what else is behind is forgotten.

        Removed, because if the batch fails half-way what it did to the engine must not be seen again.
        """
        found = self._engines.pop(key, [])
        found.sort(key=lambda cached: (cached.token != token, not behind(cached.token)))
        usable = bool(found) and (found[0].token == token or behind(found[0].token))
        left = [cached for cached in found[usable:] if not behind(cached.token)]
        if left:
            self._engines[key] = left
        return found[0] if usable else None

    def put(self, key: BucketKey, cached: Cached) -> None:
        """Keep an engine; those unused for longest go if there are too many."""
        self._engines[key] = [*self._engines.get(key, []), cached][-_PER_BUCKET:]
        self._engines.move_to_end(key)
        while len(self._engines) > self._limit:
            self._engines.popitem(last=False)

    def __len__(self) -> int:
        return sum(map(len, self._engines.values()))


ENGINES = EngineCache(limit=256)
