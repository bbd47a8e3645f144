import doctest

import pyarrow as pa
import pytest

from benchmarks import nexmark_events as events_module
from benchmarks.nexmark import by_duckdb, finished, in_turns, joined, measure, same
from benchmarks.nexmark_events import nexmark_events
from benchmarks.nexmark_queries import QUERIES

EVENTS = nexmark_events(15_000, per_second=500)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_gives_what_duckdb_gives(name: str) -> None:
    found = measure(name, EVENTS)
    assert found["results_equal"]
    assert found["results"] > 2


@pytest.mark.parametrize("name", QUERIES)
def test_all_at_once_it_gives_the_same(name: str) -> None:
    results = QUERIES[name].query(EVENTS, pushed=False).collect().drop_columns("result_time")
    assert same(finished(name, results), finished(name, by_duckdb(name, EVENTS)))


def test_a_row_too_few_is_noticed() -> None:
    results = joined(QUERIES["q8"], EVENTS, in_turns(QUERIES["q8"], EVENTS))
    assert not same(results.slice(1), results)
    assert not same(pa.concat_tables([results.slice(1), results.slice(1, 1)]), results)


def test_the_generator_says_what_it_makes() -> None:
    assert doctest.testmod(events_module).failed == 0
    assert nexmark_events(500) == nexmark_events(500)
    assert nexmark_events(500, seed=8)["bid"] != EVENTS["bid"]
