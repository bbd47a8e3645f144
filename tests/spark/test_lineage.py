from types import SimpleNamespace
from typing import Any

from dovetail.runtime.spark.cache import Cached, EngineCache
from dovetail.runtime.spark.lineage import REMEMBERED, Lineage, Step


def key(number: int) -> tuple[str, int]:
    return ("window/T", number)


HISTORY = (
    Lineage()
    .after(Step("", (key(1), key(2)), ()))
    .after(Step("a", (key(3),), (key(1),)))
    .after(Step("b", (key(4),), (key(3), key(2))))
)


def test_an_engine_that_missed_one_batch_loads_what_that_batch_wrote() -> None:
    assert HISTORY.since("b") == ([key(4)], [key(3), key(2)])


def test_what_came_and_went_in_between_is_never_loaded() -> None:
    assert HISTORY.since("a") == ([key(4)], [key(1), key(2)])


def test_a_token_that_was_never_committed_means_starting_afresh() -> None:
    assert HISTORY.since("c") is None


def test_only_the_last_steps_are_remembered() -> None:
    long = Lineage()
    for number in range(REMEMBERED + 5):
        long = long.after(Step(str(number), (key(number),), ()))
    assert len(long.steps) == REMEMBERED
    assert long.since("0") is None
    assert long.since("5") is not None


def test_text_and_back() -> None:
    assert Lineage.from_text(HISTORY.to_text()) == HISTORY


def test_the_cache_gives_an_engine_out_once_and_forgets_the_least_used() -> None:
    engine: Any = SimpleNamespace()
    cache = EngineCache(limit=2)
    for bucket in range(3):
        cache.put(("run", bucket), Cached("t", engine))
    assert len(cache) == 2
    assert cache.take(("run", 0)) is None
    assert cache.take(("run", 2)) is not None
    assert cache.take(("run", 2)) is None
