"""Partial results: one array of tuple ids per stream bound so far, all of one length.

``newest`` is the largest member time and ``expiry`` the smallest ``time + window`` of the members:
a tuple of the next stream fits in time if it lies in ``[newest - its window, expiry]``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Partial:
    """Some combinations of one tuple per bound stream."""

    ids: Mapping[str, Ids]
    newest: Ids
    expiry: Ids

    def __len__(self) -> int:
        return len(self.newest)

    def extended(self, stream: str, parents: Ids, ids: Ids, times: Ids, window_us: int) -> "Partial":
        """Each chosen parent with one tuple of the next stream."""
        members = {name: bound[parents] for name, bound in self.ids.items()}
        members[stream] = ids
        newest = np.maximum(self.newest[parents], times)
        return Partial(members, newest, np.minimum(self.expiry[parents], times + window_us))

    def where(self, keep: npt.NDArray[np.bool_]) -> "Partial":
        """Those combinations for which ``keep`` is true."""
        if keep.all():
            return self
        members = {name: bound[keep] for name, bound in self.ids.items()}
        return Partial(members, self.newest[keep], self.expiry[keep])
