"""The as-of benchmark: its peers agree with it, and what it weighs is one row per key."""

from benchmarks.asof import measure, query, weigh


def test_all_peers_give_the_same_rows() -> None:
    found = measure(2_000, 5)
    assert found["results_equal"]
    assert {"vs_duckdb", "vs_polars", "vs_pandas"} <= found.keys()


def test_two_threads_beside_two_of_duckdb() -> None:
    found = measure(2_000, 5, query, threads=2)
    assert found["results_equal"]
    assert found["vs_duckdb"] > 0


def test_one_row_of_each_key_is_kept() -> None:
    found = weigh(5_000)
    assert (found["stored"], found["pushed"]) == (5_000, 10_000)
    assert found["bytes_per_key"] < 400
