"""How many distinct keys a window holds, from a small table instead of a set.

    register = hash of the key -> id of its last tuple        a register counts while that tuple is in the window

Linear counting over three levels: the first sees every key, each further one a sixteenth of the keys of the level
before, so that a few thousand registers count from one key to millions within a few per cent. Windows slide for free:
expiry moves the window's tail, and registers whose last tuple lies before it no longer count. Levels that are full are
left alone until keys have become few again, so that of many keys only a sixteenth, or a sixteenth of that, is entered.
"""

from math import log

import numpy as np
import numpy.typing as npt

from dovetail.engine.kernels.key_sketch import note_keys

_BITS = 12  # 32 kB per level
_SIZE = 1 << _BITS  # registers of a level
_LEVELS = 3  # each counts sixteen times as many keys as the one before
_FULL = 0.8  # above this share of used registers a level says little; the next one is asked
_FEW = 200  # with fewer used registers than this, the level before would not be full


class KeySketch:
    """The distinct keys of one window."""

    def __init__(self) -> None:
        self._registers: npt.NDArray[np.int64] = np.full((_LEVELS, _SIZE), -1, np.int64)
        self._least = 0  # the levels before it are not kept up
        self._next = 0  # the first id that it has not taken in

    def follow(self, codes: npt.NDArray[np.int64], base: int, tail: int, end: int) -> None:
        """Take in what a window has stored since the last time: ``codes`` by slot, live from ``tail`` to ``end``."""
        first, self._next = max(self._next, tail), end
        note_keys(np.ascontiguousarray(codes[first - base : end - base]), first, self._registers, self._least)

    def estimate(self, tail: int) -> float:
        """About how many distinct keys the tuples from ``tail`` on have."""
        level, used = self._least, self._used(self._least, tail)
        while used > _FULL * _SIZE and level + 1 < _LEVELS:
            level, used = level + 1, self._used(level + 1, tail)
        self._least = max(level - 1, 0) if used < _FEW else level
        return -_SIZE * log(max(1 - used / _SIZE, 0.5 / _SIZE)) * float(16**level)

    def _used(self, level: int, tail: int) -> int:
        return int(np.count_nonzero(self._registers[level] >= tail))
