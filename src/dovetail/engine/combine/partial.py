"""Partial results: one array of tuple ids per stream bound so far, all of one length.

``newest`` is the largest member time and ``expiry`` the smallest ``time + window`` of the members:
a tuple of the next stream fits in time if it lies in ``[newest - its window, expiry]``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.window import Window
from dovetail.engine.kernels import extend

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Partial:
    """Some combinations of one tuple per bound stream."""

    ids: Mapping[str, Ids]
    newest: Ids
    expiry: Ids

    def __len__(self) -> int:
        return len(self.newest)

    @property
    def nbytes(self) -> int:
        return self.newest.nbytes + self.expiry.nbytes + sum(ids.nbytes for ids in self.ids.values())

    def extended(self, stream: str, parents: Ids, window: Window, ids: Ids, width: int) -> "Partial":
        """Each chosen parent with one tuple of the next stream."""
        members = {name: bound.take(parents) for name, bound in self.ids.items()}
        members[stream] = ids
        newest, expiry = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
        extend(parents, ids, self.newest, self.expiry, window.times, window.base, width, newest, expiry)
        return Partial(members, newest, expiry)

    def where(self, keep: npt.NDArray[np.bool_]) -> "Partial":
        """Those combinations for which ``keep`` is true."""
        return self if keep.all() else self.at(keep)

    def at(self, places: npt.NDArray[np.bool_] | Ids | slice) -> "Partial":
        """The combinations at these places, some perhaps more than once."""
        members = {name: bound[places] for name, bound in self.ids.items()}
        return Partial(members, self.newest[places], self.expiry[places])
