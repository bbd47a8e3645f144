"""A large batch is joined in pieces of time, and gives what it gives at once."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.runtime.spark import operator, time_pieces
from dovetail.runtime.spark.blob import BlobColumn
from dovetail.runtime.spark.left_files import leave
from dovetail.runtime.spark.time_pieces import Parcel
from dovetail.testing import Push, assert_same_rows
from tests.spark.feeding import random_batches
from tests.spark.queries import CONDITIONS, random_rows
from tests.spark.test_operator import CERTAIN, KINDS, Cluster

ALL_KINDS = [("AB", options) for options in KINDS] + CERTAIN + [("ABC", {}), ("AB", {"late": "keep"})]


def small_pieces(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(operator, "PIECE_BYTES", size)
    monkeypatch.setattr(time_pieces, "_EVERY", 1)


@pytest.mark.parametrize("in_files", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
def test_every_row_is_in_one_piece_and_later_pieces_are_later(in_order: bool, in_files: bool, tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    rows, parcels = {}, {}
    for name in "AB":
        times = dice.integers(0, 1_000, 40_000)
        times = np.sort(times) if in_order else times
        rows[name] = pa.record_batch({"n": np.arange(40_000), "ts": pa.array(times).cast(pa.timestamp("us"))})
        parts = [rows[name].slice(at, 2_500) for at in range(0, 40_000, 2_500)]
        parcels[name] = [sent(part, tmp_path / f"{name}{at}" if in_files else None) for at, part in enumerate(parts)]
    waiting, newest = dict(parcels), -1
    found: dict[str, list[pa.RecordBatch]] = {"A": [], "B": []}
    for piece in time_pieces.time_pieces(waiting, {"A": "ts", "B": "ts"}, 160_000):
        times = np.concatenate([piece[name]["ts"].cast(pa.int64()).to_numpy() for name in piece])
        assert times.min() > newest
        assert sum(block.nbytes for block in piece.values()) < 250_000
        newest = times.max()
        for name, block in piece.items():
            found[name].append(block)
    assert not waiting, "what was read is let go"
    for name in "AB":
        assert len(found[name]) >= 7
        order = np.argsort(rows[name]["ts"].cast(pa.int64()).to_numpy(), kind="stable")
        together = pa.Table.from_batches(found[name])
        places = np.argsort(together["ts"].cast(pa.int64()).to_numpy(), kind="stable")
        assert together.take(places)["n"].to_numpy().tolist() == order.tolist(), "ties are in order of arrival"


def sent(rows: pa.RecordBatch, file: Path | None) -> Parcel:
    if file is not None:
        return Parcel(("n", "ts"), None, leave(rows, file))
    column = BlobColumn(rows.schema)
    column.write([rows])
    (blob,) = column.array().to_pylist()
    return Parcel(("n", "ts"), blob, None)


@pytest.mark.parametrize(("names", "options"), ALL_KINDS, ids=str)
def test_a_batch_in_pieces_gives_what_it_gives_at_once(
    names: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every batch: rows, and what is late; some rows are late, and more so with each batch."""
    on = " AND ".join(f"A.k = {name}.k AND A.g = {name}.g" for name in names[1:])
    batches = random_batches(names, seed=4, batches=3, count=12)
    late = Push({name: random_rows(place, 12, 0, 30, first_row=7_000) for place, name in enumerate(names)})
    whole: list[tuple[Any, ...]] = []
    cut: list[tuple[Any, ...]] = []
    for results, size in ((whole, 1 << 30), (cut, 400)):
        small_pieces(monkeypatch, size)
        cluster = Cluster(on, names, monkeypatch, workers=2, **options)
        dice = random.Random(4)
        for push in [*batches, late]:
            cluster.batch(push, dice.randrange(2))
            told = {name: {k: v for k, v in each.items() if k != "bytes"} for name, each in streams(cluster).items()}
            results.append((cluster.rows(), told, cluster.engine["joined"], cluster.engine["frontier"]))
    for (rows, *found), (expected, *wanted) in zip(cut, whole, strict=True):
        assert_same_rows(rows, expected)
        assert found == wanted
    assert whole[-1][0].num_rows
    assert any(each["late"] for each in whole[-1][1].values())


def streams(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """What the engines of an operator say of each stream."""
    found: dict[str, dict[str, Any]] = cluster.engine["streams"]
    return found


@pytest.mark.parametrize(
    ("options", "cuts"),
    [
        ({}, True),
        ({"late": "divert"}, False),
        ({"budget": dv.budget(memory="1 GB")}, False),
        ({"dedup": {"A": dv.dedup("n")}}, False),
        ({"ahead": {"A": "1 hour"}}, False),
    ],
    ids=str,
)
def test_where_the_rest_of_a_batch_matters_it_is_joined_at_once(
    options: dict[str, Any], cuts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, on = CONDITIONS["one key"]
    cluster = Cluster(on, names, monkeypatch)
    query = cluster.plan.query
    if "dedup" in options or "ahead" in options:
        changed = {"dedup": dv.dedup("n")} if "dedup" in options else {"ahead_us": 3_600_000_000}
        query = replace(query, streams=(replace(query.streams[0], **changed), *query.streams[1:]))
    else:
        query = replace(query, **options)
    assert replace(cluster.job, plan=replace(cluster.plan, query=query)).cuts is cuts
