"""What a stream's guards know outlives a restart: how far ahead a row may lie, and which rows came before."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import random_rows

pytestmark = pytest.mark.spark

FAR_S = 10_000_000  # of event time: about four months ahead


def rows_of_two_runs(folder: Folder, batches: list[Push], how: str, settings: dict[str, Any]) -> tuple[pa.Table, Any]:
    """All rows of a query that was started anew in the middle, those it still held included; and the query."""
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        streams = [dv.stream(name, frame, time="ts", **settings) for name, frame in folder.frames().items()]
        select = "A.row AS a, B.row AS b"
        query = dv.join(*streams, on="A.k = B.k AND A.n < B.n", select=select, how=how, partitions=2)
        folder.run(query.spark())
    rest = query.finish(str(folder.path / "checkpoint"), session=folder.spark)
    assert rest is not None
    return pa.concat_tables([folder.rows(query), rest.toArrow().cast(query.schema)]), query.model


@pytest.mark.parametrize("how", ["inner", "left"])
def test_rows_too_far_ahead_are_refused_before_and_after_a_restart(spark: Any, tmp_path: Path, how: str) -> None:
    """Without a memory of how far the streams are, the first row after the restart would set the time."""
    batches = random_batches("AB", seed=4)
    for number, name in ((1, "A"), (2, "B")):
        far = random_rows(number, 3, FAR_S, 1, first_row=90_000 + number)
        others = batches[number].batch[name]
        order = [others, far] if number == 1 else [far, others]
        batches[number] = Push({**batches[number].batch, name: pa.concat_tables(order)})
    settings = {"window": "4 seconds", "delay": "3 seconds", "ahead": "1 minute"}
    rows, model = rows_of_two_runs(Folder(spark, tmp_path, "AB"), batches, how, settings)
    told = oracle(model, batches)
    assert sum(told.ahead.values()) == 6
    assert_same_rows(rows, told.rows)


@pytest.mark.parametrize("how", ["inner", "left"])
def test_rows_that_come_again_after_a_restart_are_dropped(spark: Any, tmp_path: Path, how: str) -> None:
    batches = random_batches("AB", seed=4, batches=3)
    batches.insert(2, batches[1])
    batches.append(batches[0])
    settings = {"window": "4 seconds", "delay": "9 seconds", "dedup": "row"}
    rows, model = rows_of_two_runs(Folder(spark, tmp_path, "AB"), batches, how, settings)
    told = oracle(model, batches)
    assert sum(told.repeated.values()) > 100
    assert_same_rows(rows, told.rows)
