"""Work in a process of its own: a fresh session, fresh memory, and nothing left behind for the next measurement."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Found = TypeVar("Found")


def alone(work: Callable[..., Found], *arguments: object) -> Found:
    """What ``work`` returns, from a new process.

    >>> alone(pow, 2, 10)
    1024
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_plainly, work, *arguments).result()


def _plainly(work: Callable[..., Found], *arguments: object) -> Found:
    """Errors of Spark hold on to their session and cannot travel, so their text does."""
    try:
        return work(*arguments)
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from None
