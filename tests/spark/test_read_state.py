"""What a checkpoint holds is what its buckets reported, and a row of it can be asked about."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.operator.survey import survey_state
from dovetail.errors import StateError
from dovetail.runtime.spark.read_state import read_state
from dovetail.runtime.why import why_anywhere
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import build

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("plan", ["multiway", "binary"])
def test_a_checkpoint_holds_what_was_reported(spark: Any, tmp_path: Path, plan: str) -> None:
    folder = Folder(spark, tmp_path, "ABC")
    folder.feed(random_batches("ABC", seed=1, batches=2))
    query = build("A.k = B.k AND B.k = C.k", folder.frames(), plan=plan)
    started = folder.run(query.spark())
    newest = {(tuple(each["engine"]["streams"]), each["bucket"]): each["engine"]
              for batch in dv.spark_metrics(started) for each in batch["buckets"]}  # fmt: skip
    reported = dict.fromkeys("ABC", 0)
    for engine in newest.values():
        for name, stream in engine["streams"].items():
            reported[name] = reported.get(name, 0) + stream["stored"]
    operators = read_state(spark, folder.path / "checkpoint")
    assert len(operators) == (1 if plan == "multiway" else 2)
    held = dict.fromkeys(reported, 0)
    for operator in operators:
        for bucket in operator.values():
            for survey in survey_state(bucket.changes):
                for stream in survey.streams:
                    held[stream.stream] += stream.tuples
    assert held == reported
    assert sum(held.values()) > 0


def test_a_row_of_a_checkpoint_can_be_asked_about(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    batches = random_batches("AB", seed=2, batches=1)
    folder.feed(batches)
    query = build("A.k = B.k", folder.frames())
    folder.run(query.spark())
    (operator,) = read_state(spark, folder.path / "checkpoint")
    states = [bucket.changes for bucket in operator.values()]
    stream = query.model.stream("A")
    newest = pa.table(batches[0].batch["A"]).sort_by("ts").slice(batches[0].batch["A"].num_rows - 1)
    assert why_anywhere(query.model, states, stream, newest).reason in ("no partner", "out")
    later = newest.set_column(newest.schema.get_field_index("k"), "k", pa.array([987_654_321], newest["k"].type))
    assert why_anywhere(query.model, states, stream, later).reason == "unknown"


def test_a_folder_that_is_no_checkpoint_is_refused(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="no checkpoint"):
        read_state(spark, tmp_path)
