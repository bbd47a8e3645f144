"""The operator without Spark: buckets wander between workers, attempts fail, and every row still comes out once."""

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.control.reshape import Reshape
from dovetail.control.steered import Steered
from dovetail.engine.buffer.sealed import unseal
from dovetail.engine.buffer.section import Changes
from dovetail.errors import StateError
from dovetail.plan.partition_grid import partition_grid
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.spark import blob, operator, pack
from dovetail.runtime.spark.arrivals import read_arrivals
from dovetail.runtime.spark.blob import from_blob
from dovetail.runtime.spark.cache import EngineCache
from dovetail.runtime.spark.identity import Identity
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.output import Blobs
from dovetail.runtime.spark.pack import Packer
from dovetail.runtime.spark.processor import JoinProcessor
from dovetail.testing import Push, assert_same_rows, certain, oracle, ordered
from tests.spark.feeding import random_batches
from tests.spark.queries import CONDITIONS, bare, random_rows

SPILLING: dict[str, Any] = {"budget": dv.budget(memory=dv.tuples(60), policy="spill")}


class Store:
    """One bucket's variables in a state store; a copy of ``values`` is a checkpoint."""

    def __init__(self) -> None:
        self.values: dict[Any, Any] = {}

    def getValueState(self, name: str, schema: str) -> "Variable":  # noqa: N802
        return Variable(self, name)

    def getMapState(self, name: str, key_schema: str, value_schema: str) -> "Variable":  # noqa: N802
        return Variable(self, name)


class Variable:
    """A value under no key, or values under keys."""

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def get(self) -> Any:
        return self.getValue(())

    def update(self, value: Any) -> None:
        self.updateValue((), value)

    def getValue(self, key: Any) -> Any:  # noqa: N802
        return self._store.values.get((self._name, key))

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self._store.values[self._name, key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        del self._store.values[self._name, key]

    def iterator(self) -> Iterator[tuple[Any, Any]]:
        return ((key, value) for (name, key), value in self._store.values.items() if name == self._name)


class Cluster:
    """One bucket, several worker processes (each with a cache of its own), one state store."""

    def __init__(self, on: str, names: str, monkeypatch: pytest.MonkeyPatch, workers: int = 2, **options: Any) -> None:
        self.query = bare(on, names, **options).model
        bare_streams = tuple(replace(stream, data=None) for stream in self.query.streams)
        self.plan = plan_query(replace(self.query, streams=bare_streams))
        self.job = Job(self.plan, Identity("the query", ""), Layouts(self.plan.query, 1), "run")
        self.store = Store()
        self.results: list[pa.RecordBatch] = []
        self.recalled: list[str] = []
        self.engine: dict[str, Any] = {}
        self.first_recalled: list[str] = []
        self._caches = [EngineCache(limit=4) for _ in range(workers)]
        self._monkeypatch = monkeypatch

    def pack(self, push: Push) -> pd.DataFrame:
        packed = []
        for position, stream in enumerate(self.plan.query.streams):
            if stream.name in push.batch:
                columns = self.plan.columns[stream.name]
                packer = Packer(stream, position, columns, columns, (), partition_grid(self.query, 1), (0,))
                rows = push.batch[stream.name].select(columns).to_batches(max_chunksize=17)
                packed += [packer.pack(batch, at, 0, 0).to_pandas() for at, batch in enumerate(rows)]
        return pd.concat(packed).sample(frac=1, random_state=len(packed))

    def batch(self, push: Push, worker: int, fails: bool = False) -> None:
        self._monkeypatch.setattr(operator, "ENGINES", self._caches[worker])
        committed = copy.deepcopy(self.store.values)
        processor = JoinProcessor(self.job, Blobs(self.query.schema, ordered=False))
        handle: Any = self.store
        processor.init(handle)
        timers: Any = None
        output = pd.concat(processor.handleInputRows((0,), iter([self.pack(push)]), timers))
        (report,) = [json.loads(text) for text in output["report"].dropna()]
        if fails:
            self.store.values = committed
            self.first_recalled.append(report["recalled"])
            return
        blobs = output["blob"].dropna()
        self.results += [batch for value in blobs for batch in from_blob(value, self.query.schema.names)]
        self.recalled.append(report["recalled"])
        self.engine = report["engine"] | {"joined": report["joined"]}

    def header(self) -> bytes:
        """What the last batch wrote beside the slices."""
        token, _, header, lineage = self.store.values["head", ()]
        return bytes(unseal(header, "the head of a bucket in the checkpoint", token + lineage))

    def forget_engines(self) -> None:
        """As if the workers had been started anew."""
        self._caches = [EngineCache(limit=4) for _ in self._caches]

    def rows(self) -> pa.Table:
        return pa.Table.from_batches(self.results, self.query.schema)


def test_declaring_the_state_loads_no_engine() -> None:
    program = "import sys, dovetail.runtime.spark.processor; print('numba' in sys.modules, 'pandas' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", "False"]


CHATTER = """
import sys
from types import SimpleNamespace
from pyspark import cloudpickle
from dovetail.runtime.spark.processor import JoinProcessor

arriving = cloudpickle.dumps(JoinProcessor(SimpleNamespace(spills=False), None))
cloudpickle.loads(arriving)
print("heard in a worker")
sys.modules["__main__"].__spec__ = SimpleNamespace(name="pyspark.sql.streaming.transform_with_state_driver_worker")
cloudpickle.loads(arriving)
print("chatter of the driver's")
print("an error", file=sys.stderr)
"""


def test_what_the_drivers_worker_prints_is_not_seen_but_errors_are() -> None:
    told = subprocess.run([sys.executable, "-c", CHATTER], capture_output=True, text=True, check=True)
    assert told.stdout == "heard in a worker\n"
    assert told.stderr == "an error\n"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("case", ["one key", "chain of keys", "band of floats"])
def test_wandering_buckets_and_failed_attempts(case: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names, on = CONDITIONS[case]
    cluster = Cluster(on, names, monkeypatch, workers=3)
    batches = random_batches(names, seed=seed, batches=12, count=25 if len(names) == 2 else 12)
    dice = random.Random(seed)
    for push in batches:
        while dice.random() < 0.3:
            cluster.batch(push, dice.randrange(3), fails=True)
        cluster.batch(push, dice.randrange(3))
    assert_same_rows(cluster.rows(), oracle(cluster.query, batches).rows)
    assert {"new", "cached", "caught up"} <= set(cluster.recalled)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("order", ["none", "hold"])
def test_a_query_changes_its_shape_while_its_bucket_wanders(
    order: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``plan="auto"``: one operator or several, whatever control says after a batch, also one that fails."""
    names, on = CONDITIONS["chain of keys"]
    dice, shapes = random.Random(seed), [None, (("A", "B"), "C"), ("A", ("B", "C"))]
    monkeypatch.setattr(Reshape, "decide", lambda self, now, readings: dice.choice([now, *shapes]))
    cluster = Cluster(on, names, monkeypatch, workers=3, order=order)
    batches = random_batches(names, seed=seed, batches=9, count=12)
    for push in batches:
        while dice.random() < 0.3:
            cluster.batch(push, dice.randrange(3), fails=True)
        cluster.batch(push, dice.randrange(3))
        if dice.random() < 0.2:
            cluster.forget_engines()
    rows, expected = cluster.rows(), oracle(cluster.query, batches).rows
    if order == "hold":
        rows, expected = (released(table, cluster.query, batches) for table in (rows, expected))
    assert expected.num_rows
    assert_same_rows(rows, expected)
    assert order == "none" or ordered(rows)
    assert json.loads(cluster.header())["reshaped"] > 2


def released(rows: pa.Table, query: Any, batches: list[Push]) -> pa.Table:
    """Rows that are certain: no stream can send anything older than its newest row less its delay."""
    newest = [
        max(pc.max(push.batch[s.name]["ts"]).value for push in batches if s.name in push.batch) for s in query.streams
    ]
    certain = pa.scalar(min(newest) - query.streams[0].delay_us, pa.int64()).cast(query.time_type)
    return rows.filter(pc.less(rows["result_time"], certain))


def test_a_function_of_the_users_own_travels_along(monkeypatch: pytest.MonkeyPatch) -> None:
    dv.function("near", lambda a, b: pc.less(pc.abs(pc.subtract(a, b)), 20), ["int64", "int64"], "bool")
    cluster = Cluster("A.k = B.k AND near(A.n, B.n)", "AB", monkeypatch)
    batches = random_batches("AB", seed=1, batches=4)
    for push in batches:
        cluster.batch(push, worker=0)
    expected = oracle(cluster.query, batches).rows
    assert expected.num_rows
    assert_same_rows(cluster.rows(), expected)


KINDS: list[dict[str, Any]] = [
    {"order": "sync"},
    {"order": "hold"},
    {"order": "adaptive"},
    {"how": "full"},
    {"how": "left", "order": "hold"},
    {"how": "semi"},
    {"how": "anti", "order": "sync"},
    {"window": {"A": dv.rows(3, per="key"), "B": "4 seconds"}},
    {"window": {"A": dv.rows(9), "B": "4 seconds"}},
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_held_rows_and_row_windows_wander_too(
    options: dict[str, Any], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster("A.k = B.k AND A.n < B.n", "AB", monkeypatch, workers=2, **options)
    far = Push({name: random_rows(place, 5, 600, 1, first_row=9000) for place, name in enumerate("AB")})
    batches = [*random_batches("AB", seed=seed, batches=8, count=25), far]
    dice = random.Random(seed)
    for push in batches:
        if dice.random() < 0.2:
            cluster.batch(push, dice.randrange(2), fails=True)
        cluster.batch(push, dice.randrange(2))
    early = pa.scalar(500_000_000, pa.int64()).cast(cluster.query.time_type)
    expected = oracle(cluster.query, batches).rows
    rows = cluster.rows()
    assert_same_rows(*(table.filter(pc.less(table["result_time"], early)) for table in (rows, expected)))
    assert "order" not in options or ordered(rows)


CERTAIN: list[tuple[str, dict[str, Any]]] = [
    ("AB", {"how": "left"}),
    ("AB", {"how": "full", "order": "hold"}),
    ("AB", {"how": "semi"}),
    ("ABC", {"how": {"B": "left", "C": "left"}}),
    ("ABC", {"how": {"B": "anti", "C": "full"}}),
    ("AB", {"how": "left", "asof": {"B": dv.asof()}}),
    ("ABC", {"how": "left", "asof": {"B": dv.asof("forward", "2 seconds"), "C": dv.asof("nearest", "1 second")}}),
    ("ABC", {"asof": {"B": dv.asof(equal=False), "C": dv.asof("nearest", "1 second")}, "order": "hold"}),
]


@pytest.mark.parametrize(("names", "options"), CERTAIN, ids=str)
def test_rows_come_out_with_the_batch_that_makes_them_certain(
    names: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    on = " AND ".join(f"A.k = {name}.k AND A.g = {name}.g" for name in names[1:])
    cluster = Cluster(on, names, monkeypatch, workers=2, **options)
    batches, dice = random_batches(names, seed=4, batches=6, count=4), random.Random(4)
    for number, push in enumerate(batches, 1):
        if dice.random() < 0.3:
            cluster.batch(push, dice.randrange(2), fails=True)
        cluster.batch(push, dice.randrange(2))
        assert_same_rows(cluster.rows(), certain(cluster.query, batches[:number]))
    assert 0 < cluster.rows().num_rows < oracle(cluster.query, batches).rows.num_rows


def test_many_blobs_per_cell_keep_the_order_of_arrival(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    (push,) = random_batches("AB", seed=7, batches=1, count=200)
    few = len(cluster.pack(push))
    monkeypatch.setattr(blob, "SLICE_BYTES", 100)
    packed = cluster.pack(push)
    assert len(packed) > 2 * few
    arrivals = read_arrivals([packed], cluster.plan.columns)
    blocks = arrivals.blocks()
    for name, rows in push.batch.items():
        columns = list(cluster.plan.columns[name])
        assert pa.Table.from_batches([blocks[name]]).equals(rows.select(columns).combine_chunks())
        assert arrivals.totals[name]["rows"] == rows.num_rows


def test_copies_count_for_the_size_of_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    query = bare("A.n < B.n", "AB").model
    grid = partition_grid(query, 4)
    assert [axis.size for axis in grid.axes] == [2, 2]
    columns = plan_query(query).columns["A"]
    packer = Packer(query.streams[0], 0, columns, columns, (), grid, tuple(range(4)))
    rows = random_rows(0, 80, 1, 1).select(columns).to_batches(max_chunksize=10)
    monkeypatch.setattr(pack, "PIECE_BYTES", int(3.5 * rows[0].nbytes))  # four batches, but each comes twice
    packed = list(packer(rows))
    assert len(packed) == 4
    sequences = [number for piece in packed for number in piece["sequence"].to_pylist()]
    assert sequences == list(range(len(sequences)))


def test_a_failed_attempt_on_the_same_worker_is_not_mistaken_for_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    first, second, third = random_batches("AB", seed=1, batches=3)
    cluster.batch(first, 0)
    cluster.batch(second, 0, fails=True)
    cluster.batch(second, 0)
    cluster.batch(third, 0)
    assert cluster.recalled == ["new", "loaded", "cached"]
    assert_same_rows(cluster.rows(), oracle(cluster.query, [first, second, third]).rows)


def test_a_worker_that_missed_batches_loads_only_those(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    batches = random_batches("AB", seed=3, batches=6)
    for push, worker in zip(batches, (0, 1, 1, 1, 0, 1), strict=True):
        cluster.batch(push, worker)
    assert cluster.recalled == ["new", "loaded", "cached", "cached", "caught up", "caught up"]
    assert_same_rows(cluster.rows(), oracle(cluster.query, batches).rows)


def test_tuples_that_came_and_went_meanwhile_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    rows = {second: random_rows(second, 30, second, 1, first_row=second * 100) for second in range(0, 120, 5)}
    batches = [
        Push({"A": rows[0], "B": rows[0]}),
        Push({"B": rows[60]}),
        Push({"A": rows[5]}),
        Push({"A": rows[55]}),
        Push({"A": rows[60]}),
        Push({"B": rows[65]}),
        Push({"A": rows[65]}),
        Push({"A": rows[70], "B": rows[70]}),
    ]
    for push, worker in zip(batches, (0, 1, 1, 1, 1, 0, 1, 0), strict=True):
        cluster.batch(push, worker)
    assert_same_rows(cluster.rows(), oracle(cluster.query, batches).rows)


def test_a_batch_that_is_run_twice_finds_an_engine_both_times(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    batches = random_batches("AB", seed=5, batches=5)
    for push in batches:
        cluster.batch(push, worker=0, fails=True)
        cluster.batch(push, worker=0)
    assert cluster.recalled == ["new", "cached", "cached", "cached", "cached"]
    assert cluster.first_recalled == ["new", "cached", "cached", "cached", "cached"]
    assert_same_rows(cluster.rows(), oracle(cluster.query, batches).rows)


def test_two_sinks_of_one_data_frame_have_an_engine_each(monkeypatch: pytest.MonkeyPatch) -> None:
    sinks = {name: Cluster("A.k = B.k", "AB", monkeypatch) for name in ("files", "kafka")}
    caches = sinks["files"]._caches
    batches = random_batches("AB", seed=5, batches=4)
    for push in batches:
        for name, sink in sinks.items():
            monkeypatch.setattr(operator, "query_id", lambda name=name: name)
            sink._caches = caches
            sink.batch(push, worker=0)
    for sink in sinks.values():
        assert sink.recalled == ["new", "cached", "cached", "cached"]
        assert_same_rows(sink.rows(), oracle(sink.query, batches).rows)


def test_state_follows_the_window_and_not_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    sizes = []
    for push in random_batches("AB", seed=2, batches=30):
        cluster.batch(push, 0)
        sizes.append(len(cluster.store.values))
    assert max(sizes[5:]) <= max(sizes[:10])


def test_another_querys_state_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    first, second = random_batches("AB", seed=1, batches=2)
    cluster.batch(first, 0)
    cluster.job = replace(cluster.job, identity=Identity("another", ""))
    with pytest.raises(StateError, match="belongs to another query") as caught:
        cluster.batch(second, 0)
    assert "the query" in str(caught.value)
    assert "another" in str(caught.value)


@pytest.mark.parametrize("place", [0, 6, 0.3, 0.7, 0.999])
def test_a_changed_byte_in_the_state_is_told(place: float, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    *batches, last = random_batches("AB", seed=5, batches=4, count=60)
    for push in batches:
        cluster.batch(push, 0)
    whole = dict(cluster.store.values)
    for key in [key for key in whole if key[0] in ("slices", "head")]:
        cluster.store.values = whole | {key: changed(whole[key], place)}
        with pytest.raises(StateError, match=r"is damaged: its contents do not match their checksum"):
            cluster.batch(last, 1)
        cluster.forget_engines()


@pytest.mark.parametrize("place", [0, 6, 0.3, 0.7, 0.999])
def test_a_changed_byte_in_spilled_parts_is_told(place: float, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch, **SPILLING)
    for push in random_batches("AB", seed=5, batches=4, count=60):
        cluster.batch(push, 0)
    parts = {key: value for key, value in cluster.store.values.items() if key[0] == "parts"}
    cluster.store.values |= {key: changed(value, place) for key, value in parts.items()}
    far = Push({name: random_rows(at, 5, 600, 1, first_row=9000) for at, name in enumerate("AB")})
    with pytest.raises(StateError, match=r"spilled part \d+ in the checkpoint is damaged: its contents do not match"):
        cluster.batch(far, 1)


def changed(value: tuple[Any, ...], place: float) -> tuple[Any, ...]:
    """A value of the state with one byte of its blob, or of the head's header, changed."""
    at = next(at for at, part in enumerate(value) if isinstance(part, bytes))
    data = bytearray(value[at])
    data[int(place if isinstance(place, int) else place * len(data))] ^= 4
    return (*value[:at], bytes(data), *value[at + 1 :])


def test_slices_in_each_others_place_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    first, second = random_batches("AB", seed=5, batches=2)
    cluster.batch(first, 0)
    one, other = [key for key in cluster.store.values if key[0] == "slices"][:2]
    values = cluster.store.values
    values[one], values[other] = values[other], values[one]
    with pytest.raises(StateError, match=r"slice \d+ of 'window/\w' in the checkpoint is damaged"):
        cluster.batch(second, 1)


def test_a_worker_that_cannot_catch_up_starts_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """What left memory while it was away may not fit what it has; the state itself is whole."""
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    batches = random_batches("AB", seed=3, batches=4)
    for push, worker in zip(batches[:3], (0, 1, 1), strict=True):
        cluster.batch(push, worker)
    apply, misfits = Steered.apply, [StateError("the state tells epochs of 4 tuples, and there are 6")]

    def applied(steered: Steered, changes: Changes) -> None:
        if misfits:
            raise misfits.pop()
        apply(steered, changes)

    monkeypatch.setattr(Steered, "apply", applied)
    cluster.batch(batches[3], 0)
    assert cluster.recalled == ["new", "loaded", "cached", "loaded"]
    assert_same_rows(cluster.rows(), oracle(cluster.query, batches).rows)


def is_sealed(part: Any) -> bool:
    return isinstance(part, bytes) and part.startswith(b"DVC")


@pytest.mark.parametrize("options", [{}, SPILLING], ids=["windows", "spilled"])
def test_a_state_without_checksums_is_still_read(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch, **options)
    batches = random_batches("AB", seed=6, batches=6, count=60)
    for worker, push in enumerate(batches):
        cluster.batch(push, worker % 2)
        for key, value in cluster.store.values.items():
            cluster.store.values[key] = tuple(part[24:] if is_sealed(part) else part for part in value)
        cluster.forget_engines()
    assert set(cluster.recalled) == {"new", "loaded"}
    given, expected = cluster.rows(), oracle(cluster.query, batches).rows
    if options:  # the last joins with what was spilled are still owed
        assert set(map(str, given.to_pylist())) <= set(map(str, expected.to_pylist()))
    else:
        assert_same_rows(given, expected)
