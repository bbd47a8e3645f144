import time
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from benchmarks import share
from benchmarks.checksum import Sum
from benchmarks.pushing import Blocks, blocks_of
from benchmarks.share_queries import queries, sums_of
from benchmarks.workloads import equi


def test_every_query_is_compared_with_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert share._equal(equi(10_000), 20)

    def one_row_less(results: list[pa.Table]) -> dict[str, Sum]:
        found = sums_of(results)
        return found | {"q3": Sum(found["q3"].rows - 1, found["q3"].total)}

    monkeypatch.setattr(share, "sums_of", one_row_less)
    assert not share._equal(equi(10_000), 20)


def test_sums_are_those_of_each_query() -> None:
    rows = pa.table({"query": ["b", "a", "b"], "k": [1, 2, 3], "a_ts": [4, 5, 6], "b_ts": [7, 8, 9]})
    found = sums_of([rows.slice(0, 2), rows.slice(2)])
    assert {name: each.rows for name, each in found.items()} == {"a": 1, "b": 2}
    assert sums_of([rows.slice(0, 0)]) == {}


def test_of_a_thousand_separate_runs_every_tenth_is_made() -> None:
    made = queries(equi(10), 1000)
    assert [query.name for query in share._sample(made)][:3] == ["q0", "q10", "q20"]
    assert len(share._sample(made)) == 100


def seconds(shared: dv.SharedQuery, blocks: Blocks) -> float:
    """CPU time, the best of three."""
    spent = []
    for _ in range(3):
        run, started = shared.local(), time.process_time()
        for name, block in blocks:
            run.push(name, block)
        spent.append(time.process_time() - started)
    return min(spent)


def test_a_hundred_queries_with_small_outputs_cost_at_most_three_times_one() -> None:
    workload = equi(100_000)
    blocks: Any = blocks_of(workload, share.BLOCK)
    one, hundred = (dv.share(*queries(workload, count)) for count in (1, 100))
    assert seconds(hundred, blocks) <= 3 * seconds(one, blocks)
