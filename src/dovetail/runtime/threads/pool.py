"""The one pool of threads of this process: as many as it may use, made when they are first needed."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

T = TypeVar("T")


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, usable_cores() - 1), "dovetail")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # its threads are not in the child


def in_parallel(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """What all tasks give, the first of them done by the caller; an error of one is raised once all have ended."""
    futures = [_pool().submit(task) for task in tasks[1:]]
    try:
        first = tasks[0]()
    finally:
        _wait(futures)
    return [first, *(future.result() for future in futures)]


def _wait(futures: Sequence[Future[T]]) -> None:
    """Until all have ended; an interrupt meanwhile is raised then, so that no task goes on beside the caller."""
    try:
        wait(futures)
    except KeyboardInterrupt:
        wait(futures)
        raise
