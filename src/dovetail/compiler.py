"""Loops compiled for this machine by Numba, and kept on disk; importing it takes longer than a first small push.

Where nothing can be kept (a package and a home that cannot be written to, a full disk), every process compiles for
itself.
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

PAUSE_S = 2.0  # kernels that a query needs are compiled one after the other; what comes later is another surprise


def compiled_part(loop: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A loop that is compiled as a part of those that call it."""
    return njit(loop, nogil=True, **options)


class Compiled(CPUDispatcher):
    """A loop that is compiled for one signature, or loaded from disk, when it is asked to be."""

    def __init__(self, loop: Callable[..., Any], signature: str) -> None:
        super().__init__(loop, targetoptions={"nopython": True, "nogil": True})
        self._signature = signature
        self._loaded = False

    def load(self) -> None:
        """Have it compiled, for this signature and no other; values of other types are converted, or refused."""
        if not self._loaded:
            self._compile_and_keep()
            self.disable_compile()
            self._loaded = True

    def _compile_and_keep(self) -> None:
        try:
            self.enable_caching()
        except RuntimeError as error:  # Numba found no folder that can be written to
            _notice.nothing_is_kept(error)
        with event.install_listener("numba:compile", _notice):
            try:
                self.compile(self._signature)
            except OSError as error:  # what was kept cannot be read, or there is no room to keep it
                _notice.nothing_is_kept(error)
                self._cache = NullCache()
                self.compile(self._signature)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Another kernel calls this one."""
        self.load()
        return super().get_call_template(args, kws)


class Notice(event.Listener):
    """Says that something is being compiled, before it is: once for kernels that follow each other at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ended: float | None = None
        self._depth = 0
        self._kept = True

    def nothing_is_kept(self, error: Exception) -> None:
        """Warn, once, that every process compiles for itself."""
        if self._kept:
            self._kept = False
            warnings.warn(
                f"compiled kernels cannot be kept ({error}), so every process compiles those it needs, for some "
                "seconds; set NUMBA_CACHE_DIR to a folder that can be written to",
                RuntimeWarning,
                stacklevel=2,
            )

    def on_start(self, _: Any) -> None:
        self._depth += 1
        if self._depth == 1 and self._kept and (self._ended is None or self._clock() - self._ended > PAUSE_S):
            some = "kernels" if self._ended is None else "more kernels"
            sys.stderr.write(f"dovetail: compiling {some} for this machine, once; this takes some seconds\n")

    def on_end(self, _: Any) -> None:
        self._depth -= 1
        self._ended = self._clock()


_notice = Notice()
