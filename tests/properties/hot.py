"""Keys that count as hot as soon as a few rows have them, and cool as soon, so that short runs split many."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from dovetail.plan import split_keys
from dovetail.runtime import hot_keys

EAGER = {"LEAST_ROWS": 1, "HOT": 1.3, "COOL": 1.2, "COOL_BATCHES": 1, "GAIN": 2.0}


@contextmanager
def eager_splits() -> Iterator[None]:
    """Inside, one key more than another is reason enough to split it, and two cells are enough."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(split_keys, "FEWEST", 2))
        for name, value in EAGER.items():
            stack.enter_context(patch.object(hot_keys, name, value))
        yield
