"""Live engines of this worker process, so that a batch costs what changed and not the whole window.

An engine is taken out while a batch runs on it and put back under the token that the batch wrote into
the state. Tokens are random: an engine counts only if the state that Spark committed is the very one it wrote. After
a failed attempt the committed token is an older one, no cached engine has it, and none is used by mistake.

    take ("run", bucket 2)  ->  ("c3f1", engine)      state says "c3f1": go on with it
                                                      state says "77aa": catch up, or load everything
"""

from collections import OrderedDict
from dataclasses import dataclass

from dovetail.engine.engine import Engine

BucketKey = tuple[str, int]


@dataclass(frozen=True)
class Cached:
    """An engine, and the token of the state it agrees with."""

    token: str
    engine: Engine


class EngineCache:
    """The most recently used engines, of at most ``limit`` buckets."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._engines: OrderedDict[BucketKey, Cached] = OrderedDict()

    def take(self, key: BucketKey) -> Cached | None:
        """Remove and return: if the batch fails half-way, what it did to the engine must not be seen again."""
        return self._engines.pop(key, None)

    def put(self, key: BucketKey, cached: Cached) -> None:
        """Keep an engine; the one unused for longest goes if there are too many."""
        self._engines[key] = cached
        self._engines.move_to_end(key)
        while len(self._engines) > self._limit:
            self._engines.popitem(last=False)

    def __len__(self) -> int:
        return len(self._engines)


ENGINES = EngineCache(limit=256)
