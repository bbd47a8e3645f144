"""The budget of a query is shared out to its buckets by their load: packers, operators and state without Spark."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.control.steered import Steered
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.operator_of import operator_of
from dovetail.runtime.spark import operator
from dovetail.runtime.spark.blob import from_blob
from dovetail.runtime.spark.cache import EngineCache
from dovetail.runtime.spark.identity import Identity
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.output import Blobs
from dovetail.runtime.spark.pack import Packer, ticks
from dovetail.runtime.spark.processor import JoinProcessor
from dovetail.runtime.threads.redeal import gather
from dovetail.testing import Push, assert_same_rows, assert_subset, oracle
from tests.spark.test_operator import Store

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "row": pa.int64()})
BUCKETS = 4


class Buckets:
    """All buckets of one query, in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, budget: Any) -> None:
        streams = [dv.stream(name, time="ts", window="2 seconds", schema=SCHEMA) for name in "AB"]
        select = "A.row AS a, B.row AS b"
        self.query = dv.join(*streams, on="A.k = B.k", select=select, budget=budget, partitions=BUCKETS).model
        self.plan, self.layouts = plan_query(self.query), Layouts(self.query, BUCKETS)
        self.job = Job(self.plan, Identity("the query", ""), self.layouts, "run")
        self.stores = {number: Store() for number in self.layouts.plan().numbers}
        self.rows: list[pa.RecordBatch] = []
        self.engines: dict[int, dict[str, Any]] = {}
        monkeypatch.setattr(operator, "ENGINES", EngineCache(limit=64))

    def batch(self, push: Push, now: int | None = None) -> None:
        packed = pd.concat([self._pack(at, s, push.batch[s.name]) for at, s in enumerate(self.query.streams)])
        self._process(packed if now is None else packed.assign(now=now))

    def tick(self, now: int) -> None:
        """A batch that only the clock has caused."""
        (row,) = ticks([pa.record_batch({"value": [1]})], tuple(self.stores))
        self._process(row.to_pandas().assign(now=now))

    def _process(self, packed: pd.DataFrame) -> None:
        for number, store in self.stores.items():
            processor = JoinProcessor(self.job, Blobs(self.query.schema, ordered=False))
            handle: Any = store
            processor.init(handle)
            own, timers = packed[packed["bucket"] == number], None
            made = list(processor.handleInputRows((number,), iter([own]), timers))  # type: ignore[arg-type]
            if not made:
                continue
            output = pd.concat(made)
            blobs = output["blob"].dropna()
            self.rows += [batch for value in blobs for batch in from_blob(value, self.query.schema.names)]
            (report,) = [json.loads(text) for text in output["report"].dropna()]
            self.engines[number] = report["engine"]

    def _pack(self, position: int, stream: Any, rows: pa.Table) -> pd.DataFrame:
        columns, layout = self.plan.columns[stream.name], self.layouts.plan()
        packer = Packer(stream, position, columns, columns, (), layout.grid, layout.numbers, tells_loads=True)
        return pd.concat(
            [packer.pack(batch, at, 0, 0).to_pandas() for at, batch in enumerate(rows.select(columns).to_batches(40))]
        )

    def of(self, account: str, name: str) -> list[float]:
        """One figure of every bucket, the largest last."""
        return sorted(float(engine[account][name]) for engine in self.engines.values())


def skewed(batches: int, count: int = 80) -> list[Push]:
    """Nine rows in ten have one key."""
    random = np.random.default_rng(5)
    pushes = []
    for batch in range(batches):
        held = {}
        for name in "AB":
            times = np.sort(random.integers(batch * 10**6, (batch + 1) * 10**6, count))
            keys = np.where(random.random(count) < 0.9, 7, random.integers(0, 50, count))
            arrays = [
                pa.array(times).cast(SCHEMA.field("ts").type),
                keys,
                np.arange(batch * 1000, batch * 1000 + count),
            ]
            held[name] = pa.table([pa.array(each) for each in arrays], schema=SCHEMA)
        pushes.append(Push(held))
    return pushes


@pytest.mark.parametrize("policy", ["spill", "harvest"])
def test_memory_follows_the_load_and_its_sum_stays(monkeypatch: pytest.MonkeyPatch, policy: str) -> None:
    buckets, batches = Buckets(monkeypatch, dv.budget(memory=dv.tuples(400), policy=policy)), skewed(8)
    for push in batches:
        buckets.batch(push)
    *rest, most = buckets.of("memory", "limit")
    assert sum(rest) + most == pytest.approx(400, abs=BUCKETS)
    assert most > 300, "nine rows in ten come to one of four"
    assert min(rest) >= 10, "a tenth of an equal part is everybody's"
    rows, expected = pa.Table.from_batches(buckets.rows, buckets.query.schema), oracle(buckets.query, batches).rows
    assert_subset(rows, expected)
    if policy == "spill":
        assert rows.num_rows > 0.3 * expected.num_rows
    else:
        alone = Buckets(monkeypatch, None)
        for push in batches:
            alone.batch(push)
        assert_same_rows(pa.Table.from_batches(alone.rows, alone.query.schema), expected)


def test_time_follows_the_load_and_no_bucket_has_more_than_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    buckets = Buckets(monkeypatch, dv.budget(cpu=1.6))
    for at, push in enumerate(skewed(8)):
        buckets.batch(push, now=10**15 + at * 10**6)
    *rest, most = buckets.of("budget", "cpu")
    assert most == 1.0
    assert all(0.04 <= each < 0.3 for each in rest)


def test_a_bucket_that_loses_its_load_loses_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    buckets, batches = Buckets(monkeypatch, dv.budget(memory=dv.tuples(400), policy="spill")), skewed(16)
    for push in batches[:8]:
        buckets.batch(push)
    favourite = max(buckets.engines, key=lambda number: buckets.engines[number]["memory"]["limit"])
    before = buckets.engines[favourite]["memory"]["limit"]
    for push in batches[8:]:
        even = {name: rows.set_column(1, "k", pa.array(np.arange(rows.num_rows))) for name, rows in push.batch.items()}
        buckets.batch(Push(even))
    assert buckets.engines[favourite]["memory"]["limit"] < before / 2


def test_what_goes_on_from_all_buckets_has_the_whole_budget() -> None:
    streams = [dv.stream(name, time="ts", window="2 seconds", schema=SCHEMA) for name in "AB"]
    budget = dv.budget(memory=dv.tuples(4000), policy="fail")
    plan = dv.join(*streams, on="A.k = B.k", select="A.row AS a", budget=budget, partitions=2).plan
    cells = [operator_of(plan) for _ in range(2)]
    for each in cells:
        assert isinstance(each, Steered)
        each.adopt(replace(each.statistics()[0].decision, load=0.5))
        assert not list(each.push({"A": skewed(1)[0].batch["A"]}))
        assert each.metrics()["memory"]["limit"] == 2000
    grid = Layouts(plan.query, 2).plan().grid
    whole = operator_of(plan)
    whole.apply(gather(plan.query, grid, [each.state() for each in cells], {"A": 0, "B": 0}))
    assert whole.metrics()["memory"]["limit"] == 4000
