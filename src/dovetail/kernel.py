"""Kernels: loops over arrays, compiled for this machine once there is enough to do, and kept on disk.

    @kernel("int64(int64[::1])")                       compiled for these types
    @kernel(int64="int64(int64[::1])",                 one of them, by the type of the first argument, or of another
            float64="int64(float64[::1])")
    @interpretable(...)                                as kernel; few rows may go through it before it is compiled
    @part                                              only called by kernels, and compiled as a part of them

A kernel may call another. It is compiled at its first call, so that nothing is compiled that nobody calls. To load the
compiler and what it has kept takes half a second, to compile some seconds; the loops of a join take a few rows as they
stand, in Python, in milliseconds. So a process begins with that, and compiles from the first call with many rows on, or
when the few have taken a while.

What loading takes is no part of a join's work: budgets and statistics read ``cpu_time`` and ``wall_time``.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial, update_wrapper
from threading import RLock, local
from types import FunctionType
from typing import Any

import numpy as np

_lock = RLock()


def kernel(
    signature: str | None = None, argument: int = 0, interpreted: bool = False, **by_type: str
) -> Callable[[Callable[..., Any]], Any]:
    """Make a loop a kernel for one signature, or for one per type of its first ``argument`` or another one."""

    def decorated(loop: Callable[..., Any]) -> "Kernel | KernelByType":
        new = partial(Kernel, loop, interpreted=interpreted)
        return new(signature) if signature else KernelByType(loop, argument, {t: new(s) for t, s in by_type.items()})

    return decorated


interpretable = partial(kernel, interpreted=True)


def part(loop: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a function a part of the kernels that call it; ``options`` are Numba's."""
    return partial(Part, options=options) if loop is None else Part(loop, options)


class Part:
    """A function that kernels call."""

    def __init__(self, loop: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, loop)
        self.py_func, self._options = loop, options

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """The same for kernels that are compiled."""
        from dovetail.compiler import compiled_part

        return compiled_part(_linked(self.py_func), self._options)


class Kernel:
    """A loop that is interpreted or compiled; ``run`` is whichever of them."""

    def __init__(self, loop: Callable[..., Any], signature: str, interpreted: bool = False) -> None:
        update_wrapper(self, loop)
        self.py_func, self._signature, self._interpreted = loop, signature, interpreted
        self.run: Callable[..., Any] = self._not_loaded

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.run(*arguments)
        except SystemError as error:  # what becomes of Ctrl-C that comes while compiled code is about to return
            raise error.__cause__ or error from None

    def _not_loaded(self, *arguments: Any) -> Any:
        if self._interpreted and few_rows.are(arguments):
            return few_rows.through(self.py_func, arguments)
        self.load()
        return self.run(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """Numba's, which others that are compiled may call."""
        from dovetail.compiler import Compiled

        return Compiled(_linked(self.py_func), self._signature)

    def load(self) -> None:
        """From now on it is compiled."""
        with _lock, _apart():
            self.compiled.load()
            self.run = self.compiled


class KernelByType:
    """A loop that is compiled for more than one type of one of its arguments."""

    def __init__(self, loop: Callable[..., Any], argument: int, kernels: dict[str, Kernel]) -> None:
        update_wrapper(self, loop)
        self._argument = argument
        self._kernels = {np.dtype(name): kernel for name, kernel in kernels.items()}

    def __call__(self, *arguments: Any) -> Any:
        return self._kernels[arguments[self._argument].dtype](*arguments)


def _linked(loop: Callable[..., Any]) -> Callable[..., Any]:
    """The loop with the compiled kernels and parts that it calls, which is what Numba knows."""
    assert isinstance(loop, FunctionType)
    used = {name: loop.__globals__.get(name) for name in loop.__code__.co_names}
    compiled = {name: value.compiled for name, value in used.items() if isinstance(value, Kernel | Part)}
    made = FunctionType(loop.__code__, loop.__globals__ | compiled, loop.__name__, loop.__defaults__, loop.__closure__)
    return update_wrapper(made, loop)


class FewRows:
    """Calls that are interpreted: the first of a process, as long as they have few rows and CPU time is left."""

    MOST = 2048  # elements of the first array: twice what a window has room for at first
    TIME_S = 0.02  # less than a tenth of what it takes to load the compiler

    def __init__(self) -> None:
        # before NumPy 2 an unsigned and a whole number of Python's made a float
        self.left_s = self.TIME_S if int(np.__version__.partition(".")[0]) >= 2 else 0.0

    def are(self, arguments: tuple[Any, ...]) -> bool:
        """Whether these still are; once there are many, kernels are compiled from then on."""
        if self.left_s > 0 and next((a.size for a in arguments if isinstance(a, np.ndarray)), 0) > self.MOST:
            self.left_s = 0.0
        return self.left_s > 0

    def through(self, loop: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Run a loop in Python with numbers as a machine has them: 64 bits, and what is beyond is lost."""
        began = time.thread_time()
        with np.errstate(all="ignore"):
            result = loop(*(np.int64(a) if type(a) is int else a for a in arguments))
        self.left_s -= time.thread_time() - began
        return tuple(map(_plain, result)) if isinstance(result, tuple) else _plain(result)


few_rows = FewRows()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


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
