"""A worker process keeps the memory it has freed: the next batch needs as much again.

By default the C library gives large blocks back to the system at once, and Arrow's own allocator does so soon after.
Every batch then gets its pages anew, zeroed one by one, which takes longer than the copying for which they are wanted.
Here blocks up to 32 MiB stay with the process, and of what is free at the end of its heap 256 MiB. Only after work that
took several pieces is all given back: the next may be of another kind, and must not come on top.

After every task Spark has a worker look for garbage among all of its objects, over 100,000 that were imported and stay:
40 ms, while the next task waits. So those are left out.
"""

import ctypes
import gc
from functools import cache

import pyarrow as pa

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # numbers of the settings, from malloc.h
_LARGEST_BLOCK, _KEPT = 32 << 20, 256 << 20  # blocks of a batch are used again instead of being asked for anew


@cache
def settle(kind: str) -> None:
    """Before the first task of a kind, with all imported that it needs."""
    keep_memory()
    gc.freeze()


def give_back() -> None:
    """After large work: what is free goes back to the system, wherever in the heap it is."""
    if keep_memory():
        ctypes.CDLL(None).malloc_trim(0)


@cache
def keep_memory() -> bool:
    """Once per process; whether the C library can be told (that of GNU can)."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    mallopt(_MMAP_THRESHOLD, _LARGEST_BLOCK)
    mallopt(_TRIM_THRESHOLD, _KEPT)
    pa.set_memory_pool(pa.system_memory_pool())
    return True
