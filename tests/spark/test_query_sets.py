"""Sets of queries that travel with batches, without Spark: buckets wander, attempts fail, each query as embedded."""

import copy
import json
import random
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.model.travel import from_text, to_text
from dovetail.plan.share_queries import member_of
from dovetail.runtime.spark import operator
from dovetail.runtime.spark.blob import from_blob
from dovetail.runtime.spark.cache import EngineCache
from dovetail.runtime.spark.identity import shared_identity
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.output import NamedBlobs
from dovetail.runtime.spark.pack import Packer, query_sets
from dovetail.runtime.spark.processor import JoinProcessor
from dovetail.runtime.spark.query_set import QuerySet
from dovetail.runtime.spark.query_set import bare as without_data
from dovetail.testing import Push, assert_same_rows, assert_subset, ordered
from tests.properties.shared_queries import rows_of
from tests.spark.feeding import random_batches
from tests.spark.queries import SCHEMA
from tests.spark.test_operator import Store
from tests.spark.test_sharing import QUERIES, bare

START = ("near", "far")
OTHERS = ("some", "sync", "left", "semi", "each")


class Changing:
    """One bucket of a changing query, several workers, one state store, and the set that was last recorded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, budget: Any = None) -> None:
        self.budget = budget
        self.queries = QuerySet.started(dv.share(*map(self.made, START)).groups, None)
        shared = self.queries.shared()
        self.query = shared.plan.query
        layouts = Layouts(self.query, 1, shared=True)
        self.job = Job(shared.plan, shared_identity(self.query), layouts, "run", shared=shared, changes=True)
        self.told = [self.queries.to_text()]
        self.store, self.results = Store(), list[tuple[str, pa.RecordBatch]]()
        self._caches = [EngineCache(limit=4) for _ in range(3)]
        self._monkeypatch = monkeypatch

    def made(self, name: str) -> dv.Query:
        query = bare(name)
        return replace(query, model=replace(query.model, partitions=1, budget=self.budget))

    def change(self, name: str) -> None:
        members = [each for each in self.queries.members if each.name != name]
        joins = len(members) == len(self.queries.members)
        added = [without_data(member_of(self.made(name), ""))] if joins else []
        self.queries = self.queries.followed_by([*members, *added])
        self.told.append(self.queries.to_text())

    def restart(self) -> None:
        """A new driver and new workers; the program has the queries that it had at first."""
        self._caches = [EngineCache(limit=4) for _ in self._caches]

    def batch(self, push: Push, worker: int, fails: bool = False) -> None:
        self._monkeypatch.setattr(operator, "ENGINES", self._caches[worker])
        committed = copy.deepcopy(self.store.values)
        processor = JoinProcessor(self.job, NamedBlobs())
        handle: Any = self.store
        processor.init(handle)
        timers: Any = None
        output = pd.concat(processor.handleInputRows((0,), iter([self._pack(push)]), timers))
        if fails:
            self.store.values = committed
            return
        for row in output.dropna(subset=["blob"]).itertuples():
            self.results += [(row.query, each) for each in from_blob(row.blob, json.loads(row.columns))]
        self.told = []

    def _pack(self, push: Push) -> pd.DataFrame:
        packed = [each.to_pandas() for each in query_sets([pa.record_batch({"value": self.told})], (0,))]
        for position, stream in enumerate(self.query.streams):
            if stream.name in push.batch:
                columns, layout = self.job.columns[stream.name], self.job.layouts.plan()
                packer = Packer(stream, position, columns, columns, (), layout.grid, (0,))
                rows = push.batch[stream.name].select(columns).to_batches(max_chunksize=17)
                packed += [packer.pack(each, at, 0, 0).to_pandas() for at, each in enumerate(rows)]
        return pd.concat(packed).sample(frac=1, random_state=len(packed))

    def rows(self, name: str) -> pa.Table:
        schema = bare(name).schema
        found = [rows.select(schema.names).cast(schema) for called, rows in self.results if called == name]
        return pa.Table.from_batches(found, schema)


@pytest.mark.parametrize("budget", [None, dv.budget(memory=dv.tuples(60), policy="spill")], ids=["free", "spill"])
@pytest.mark.parametrize("seed", range(3))
def test_each_query_gets_what_it_gets_embedded(seed: int, budget: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    changing, dice = Changing(monkeypatch, budget), random.Random(seed)
    run, found = dv.share(*map(bare, START)).local(), list[pa.Table]()
    present, ever = list(START), set(START)
    for push in random_batches("AB", seed=seed, batches=8, count=20):
        while dice.random() < 0.3:
            changing.batch(push, dice.randrange(3), fails=True)
        changing.batch(push, dice.randrange(3))
        found += [run.push(name, rows) for name, rows in push.batch.items()]
        for name in dice.sample(OTHERS, k=dice.randrange(3)):
            changing.change(name)
            if name in present:
                present.remove(name)
                run.remove(name)
            else:
                present.append(name)
                ever.add(name)
                run.add(bare(name))
        if dice.random() < 0.3:
            changing.restart()
    assert len(ever) > 3
    for name in ever:
        rows = changing.rows(name)
        given = [rows_of(each, bare(name)) for each in found if name in each["query"].to_pylist()]
        expected = pa.concat_tables(given) if given else rows.slice(0, 0)
        if budget is None:
            assert_same_rows(rows, expected)
        else:  # joins from disk may still be owed, or come too late for a query that has left
            assert_subset(rows, expected)
        assert bare(name).model.order == "none" or ordered(rows)


def test_the_set_is_one_slice_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    changing, batches = Changing(monkeypatch), random_batches("AB", seed=1, batches=3, count=10)
    for push, name in zip(batches, ("some", "left", "some"), strict=True):
        changing.batch(push, 0)
        changing.change(name)
    assert [key for _, key in changing.store.values if key and key[0] == "queries"] == [("queries", 3)]


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_the_same_after_its_way(name: str) -> None:
    query = without_data(member_of(bare(name), "")).query
    assert from_text(to_text(query)) == query


def test_a_program_with_its_queries_of_last_time_goes_on_with_the_set_as_it_is() -> None:
    groups = dv.share(*map(bare, START)).groups
    first = QuerySet.started(groups, None)
    later = first.followed_by(first.members[:1])
    assert QuerySet.started(groups, later) is later
    other = QuerySet.started(dv.share(bare("far"), bare("some")).groups, later)
    assert [member.name for member in other.members] == ["far", "some"]
    assert other.version == later.version + 1
    assert [member.name for member in other.removed] == ["near"]
    assert QuerySet.from_text(other.to_text()).members == other.members


def test_as_of_joins_are_refused_with_what_works_instead() -> None:
    a, b = (
        dv.stream(name, SCHEMA.empty_table(), time="ts", asof=asof) for name, asof in [("A", None), ("B", dv.asof())]
    )
    queries = [dv.join(a, b, on="A.k = B.k", select=f"{column}, B.n").named(column) for column in ("A.x", "A.g")]
    with pytest.raises(dv.QueryError, match=r"is for window joins: which rows of an as-of .* Leave out changes=, and"):
        QuerySet.started(dv.share(*queries).groups, None).shared()
