"""Too little memory on Spark: what is flushed stays in the state store, whoever goes on with the bucket."""

import random
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import build, random_rows
from tests.spark.test_operator import Cluster
from tests.spark.test_shared_budget import Buckets, skewed

LITTLE = dv.budget(memory=dv.tuples(40), policy="spill")
KINDS: list[dict[str, Any]] = [
    {},
    {"order": "hold"},
    {"how": "full"},
    {"how": "semi", "order": "sync"},
    {"how": {"B": "left", "C": "full"}, "order": "hold"},
    {"how": {"B": "anti", "C": "left"}},
    {"how": "left", "asof": {"B": dv.asof()}},
    {"how": {"B": "inner", "C": "left"}, "asof": {"B": dv.asof(), "C": dv.asof("forward", "2 seconds")}},
    {"asof": {"B": dv.asof("nearest"), "C": dv.asof("nearest", "1 second")}, "order": "hold"},
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_spilled_parts_wander_with_their_bucket(
    options: dict[str, Any], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = isinstance(options.get("how"), dict) or len(options.get("asof", {})) > 1
    names, on = ("ABC", "A.k = B.k AND A.k = C.k") if several else ("AB", "A.k = B.k")
    on += "" if "asof" in options else " AND A.n < B.n"
    cluster = Cluster(on, names, monkeypatch, workers=2, budget=LITTLE, **options)
    far = Push({name: random_rows(place, 5, 600, 1, first_row=9000) for place, name in enumerate(names)})
    batches = [*random_batches(names, seed=seed, batches=8, count=25), far]
    dice, most = random.Random(seed), 0
    for push in batches:
        if dice.random() < 0.3:
            cluster.batch(push, dice.randrange(2), fails=True)
        cluster.batch(push, dice.randrange(2))
        most = max(most, sum(name == "parts" for name, _ in cluster.store.values))
        for cache in cluster._caches:
            for cached in chain(*cache._engines.values()):
                assert cached.operator.metrics()["memory"]["held"] <= 40
    assert most > 0
    early = pa.scalar(500_000_000, pa.int64()).cast(cluster.query.time_type)
    expected, rows = oracle(cluster.query, batches).rows, cluster.rows()
    assert_same_rows(*(table.filter(pc.less(table["result_time"], early)) for table in (rows, expected)))
    assert "order" not in options or ordered(rows)


def test_what_is_owed_comes_out_while_inputs_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    buckets, batches = Buckets(monkeypatch, dv.budget(memory=dv.tuples(20), policy="spill")), skewed(4, count=60)
    now, expected = 10**15, oracle(buckets.query, batches).rows
    for push in batches:
        buckets.batch(push, now := now + 10**6)
    assert 0 < sum(rows.num_rows for rows in buckets.rows) < expected.num_rows, "some are owed"
    for _ in range(4):
        buckets.tick(now := now + 10**6)
    assert_same_rows(pa.Table.from_batches(buckets.rows, buckets.query.schema), expected)
    before = dict(buckets.engines)
    buckets.tick(now + 10**6)
    assert buckets.engines == before, "nothing is left to do, so nothing is done"


def test_parts_that_are_gone_are_gone_from_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch, workers=1, budget=LITTLE)
    for start in range(0, 600, 10):
        push = Push({name: random_rows(start, 30, start, 10, first_row=start * 100) for name in "AB"})
        cluster.batch(push, 0)
    parts = [name for name, _ in cluster.store.values if name == "parts"]
    assert 0 < len(parts) < 60


def test_a_real_session_spills_to_its_state_and_goes_on_after_a_restart(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    far = Push({name: random_rows(place, 5, 600, 1, first_row=9000) for place, name in enumerate("AB")})
    batches = [*random_batches("AB", seed=5, batches=4, count=40), far]
    spilled = 0
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        query = build("A.k = B.k AND A.n < B.n", folder.frames(), partitions=2, budget=LITTLE)
        reports = [bucket for batch in dv.spark_metrics(folder.run(query.spark())) for bucket in batch["buckets"]]
        spilled += sum(bucket["engine"]["memory"]["flushed_tuples"] for bucket in reports)
        assert all(bucket["engine"]["memory"]["held"] <= 40 for bucket in reports)
    assert spilled > 0
    early = pa.scalar(500_000_000, pa.int64()).cast(query.schema.field("result_time").type)
    both = folder.rows(query), oracle(query.model, batches).rows
    assert_same_rows(*(table.filter(pc.less(table["result_time"], early)) for table in both))
