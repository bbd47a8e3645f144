"""Kernels: loops over arrays that are compiled for this machine when they are first called, and kept on disk.

    @kernel("int64(int64[::1])")                       compiled for these types, at its first call
    @kernel(int64="int64(int64[::1])",                 one of them, by the type of the first argument, or of another
            float64="int64(float64[::1])")
    @part                                              only called by kernels, and compiled as a part of them

A kernel may call another. Nothing is compiled that nobody calls: a join takes about ten kernels of some sixty. Where
nothing can be kept (a package and a home that cannot be written to, a full disk), every process compiles for itself.
What that takes is no part of a join's work: budgets and statistics read ``cpu_time`` and ``wall_time``.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, update_wrapper
from threading import RLock, local
from typing import Any

import numpy as np
from numba import njit
from numba.core import event
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

PAUSE_S = 2.0  # kernels that a query needs are compiled one after the other; what comes later is another surprise
_lock = RLock()

part: Any = partial(njit, nogil=True)


def kernel(signature: str | None = None, argument: int = 0, **by_type: str) -> Callable[[Callable[..., Any]], Any]:
    """Make a loop a kernel for one signature, or for one per type of its first ``argument`` or another one."""

    def decorated(loop: Callable[..., Any]) -> "Kernel | KernelByType":
        return Kernel(loop, signature) if signature else KernelByType(loop, argument, by_type)

    return decorated


class Kernel(CPUDispatcher):
    """A loop that is compiled for its signature, or loaded from disk, at its first call; then it is called directly."""

    def __init__(self, loop: Callable[..., Any], signature: str) -> None:
        super().__init__(loop, targetoptions={"nopython": True, "nogil": True})
        self._signature = signature
        self._loaded = False

    def load(self) -> None:
        """Have it compiled, for this signature and no other; values of other types are converted, or refused."""
        with _lock, _apart():
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

    def _compile_for_args(self, *_: Any, **__: Any) -> Any:
        """Numba found nothing to call yet, and is told to look again."""
        self.load()
        return self

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Another kernel calls this one."""
        self.load()
        return super().get_call_template(args, kws)


class KernelByType:
    """A loop that is compiled for more than one type of one of its arguments."""

    def __init__(self, loop: Callable[..., Any], argument: int, signatures: dict[str, str]) -> None:
        update_wrapper(self, loop)
        self._argument = argument
        self._kernels = {np.dtype(name): Kernel(loop, signature) for name, signature in signatures.items()}

    def __call__(self, *arguments: Any) -> Any:
        return self._kernels[arguments[self._argument].dtype](*arguments)


class _Spent(local):
    """What loading and compiling kernels has taken in a thread so far."""

    cpu_s = wall_s = 0.0
    inside = False


_spent = _Spent()


def cpu_time() -> float:
    """The CPU seconds of this thread, without those that went into loading and compiling kernels."""
    return time.thread_time() - _spent.cpu_s


def wall_time() -> float:
    """A clock that stands still while this thread loads and compiles kernels."""
    return time.perf_counter() - _spent.wall_s


@contextmanager
def _apart() -> Iterator[None]:
    """Time that the two clocks leave out; a kernel that is loaded for another one is part of that one's time."""
    if _spent.inside:
        yield
        return
    _spent.inside, cpu, wall = True, time.thread_time(), time.perf_counter()
    try:
        yield
    finally:
        _spent.inside = False
        _spent.cpu_s += time.thread_time() - cpu
        _spent.wall_s += time.perf_counter() - wall


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
