"""How many tuples on disk are older than a time, without a look at every part each time it is asked."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from dovetail.engine.policies.spill.part import Part


class Leaving:
    """The rows of parts by the time of their newest tuple, for each stream."""

    def __init__(self, parts: Iterable[Part]) -> None:
        found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for part in parts:
            found[part.stream].append((part.span.latest, part.rows))
        self._latest = {name: np.array([latest for latest, _ in sorted(some)]) for name, some in found.items()}
        self._rows = {name: np.cumsum([0, *(rows for _, rows in sorted(some))]) for name, some in found.items()}

    def before(self, name: str, time: int) -> int:
        """The rows of parts that are wholly older than ``time``."""
        return int(self._rows[name][np.searchsorted(self._latest[name], time)]) if name in self._rows else 0

    def rows(self, name: str) -> int:
        """All of them."""
        return int(self._rows[name][-1]) if name in self._rows else 0
