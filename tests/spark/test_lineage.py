from types import SimpleNamespace
from typing import Any

from dovetail.runtime.spark.cache import Cached, EngineCache
from dovetail.runtime.spark.lineage import REMEMBERED, Lineage, StateChange
from dovetail.runtime.spark.spilled_state import StateParts


def never(token: str) -> bool:
    return False


def key(number: int) -> tuple[str, int]:
    return ("window/T", number)


HISTORY = (
    Lineage()
    .after(StateChange("", (key(1), key(2)), ()))
    .after(StateChange("a", (key(3),), (key(1),)))
    .after(StateChange("b", (key(4),), (key(3), key(2))))
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
        long = long.after(StateChange(str(number), (key(number),), ()))
    assert len(long.steps) == REMEMBERED
    assert long.since("0") is None
    assert long.since("5") is not None


def test_text_and_back() -> None:
    assert Lineage.from_text(HISTORY.to_text()) == HISTORY


def test_the_cache_gives_an_engine_out_once_and_forgets_the_least_used() -> None:
    engine: Any = SimpleNamespace()
    cache = EngineCache(limit=2)
    for bucket in range(3):
        cache.put(("query", "run", bucket), Cached("t", engine, StateParts()))
    assert len(cache) == 2
    assert cache.checkout(("query", "run", 0), "t", never) is None
    assert cache.checkout(("query", "run", 2), "t", never) is not None
    assert cache.checkout(("query", "run", 2), "t", never) is None


def test_an_engine_ahead_of_the_state_waits_for_the_batch_that_is_run_once_more() -> None:
    engines: list[Any] = [SimpleNamespace() for _ in range(3)]
    ahead, behind, level = (Cached(token, engine, StateParts()) for token, engine in zip("cab", engines, strict=True))
    cache, bucket = EngineCache(limit=2), ("query", "run", 0)
    cache.put(bucket, ahead)
    assert cache.checkout(bucket, "b", "a".__eq__) is None, "what it has done was never committed"
    cache.put(bucket, behind)
    assert cache.checkout(bucket, "b", "a".__eq__) is behind, "it can catch up"
    cache.put(bucket, level)
    assert cache.checkout(bucket, "b", "a".__eq__) is level
    assert cache.checkout(bucket, "c", "b".__eq__) is ahead, "now that is committed"
    for token in "abc":
        cache.put(bucket, Cached(token, ahead.operator, StateParts()))
    assert len(cache) == 2


def test_an_engine_left_behind_is_forgotten() -> None:
    engine: Any = SimpleNamespace()
    cache, bucket = EngineCache(limit=2), ("query", "run", 0)
    first, second = (Cached(token, engine, StateParts()) for token in "ab")
    for each in (first, second):
        cache.put(bucket, each)
    assert cache.checkout(bucket, "b", "a".__eq__) is second
    assert len(cache) == 0
