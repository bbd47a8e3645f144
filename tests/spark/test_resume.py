"""A query goes on from its own state or another's: other partitions, other windows, embedded to Spark and back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.runtime.local import Run
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import bare, build, random_rows

pytestmark = pytest.mark.spark

ON = "A.k = B.k AND A.x > -1 AND A.n < B.n"
FAR = Push({name: random_rows(place, 5, 600, 1, first_row=9000) for place, name in enumerate("AB")})


def on_spark(spark: Any, path: Path, batches: Sequence[Push], snapshot: bytes | None = None, **how: Any) -> pa.Table:
    """A pipeline of its own, over these batches; its checkpoint is ``path / "checkpoint"``."""
    folder = Folder(spark, path, "AB")
    folder.feed(list(batches))
    of = how.pop("of", None)
    query = build(ON, folder.frames(), **how)
    folder.run(query.spark(snapshot=snapshot, of=of))
    return folder.rows(query)


def embedded(run: Run, batches: Sequence[Push]) -> pa.Table:
    """A batch at a time, as Spark has them."""
    schema = run._schema
    tables = [pa.Table.from_batches(run.operator.push(push.batch), schema) for push in batches]
    return pa.concat_tables([schema.empty_table(), *tables])


def check(query: dv.Query, tables: Sequence[pa.Table], batches: Sequence[Push]) -> None:
    early = pa.scalar(500_000_000, pa.int64()).cast(query.model.time_type)
    whole = pa.concat_tables(tables)
    rows, expected = (
        table.filter(pc.less(table["result_time"], early)) for table in (whole, oracle(query.model, batches).rows)
    )
    assert expected.num_rows > 50
    assert_same_rows(rows, expected)


@pytest.mark.parametrize("how", [{}, {"how": "full", "order": "hold"}], ids=["inner", "full, in order"])
def test_another_number_of_partitions_then_embedded_then_spark_again(
    spark: Any, tmp_path: Path, how: dict[str, Any]
) -> None:
    batches = [*random_batches("AB", seed=3, batches=6), FAR]
    first = on_spark(spark, tmp_path / "two", batches[:2], partitions=2, **how)
    left = bare(ON, "AB", partitions=2, **how).snapshot_of(str(tmp_path / "two" / "checkpoint"), spark)
    second = on_spark(spark, tmp_path / "three", batches[2:3], left, partitions=3, **how)
    left = bare(ON, "AB", partitions=3, **how).snapshot_of(str(tmp_path / "three" / "checkpoint"), spark)
    query = bare(ON, "AB", **how)
    run = query.local(snapshot=left)
    third = embedded(run, batches[3:5])
    fourth = on_spark(spark, tmp_path / "one", batches[5:], run.snapshot(), partitions=1, **how)
    check(query, [first, second, third, fourth], batches)


def test_backfill_then_live_with_a_longer_window(spark: Any, tmp_path: Path) -> None:
    batches = [*random_batches("AB", seed=4, batches=5), FAR]
    old, new = bare(ON, "AB", window="2 seconds"), bare(ON, "AB", window="4 seconds")
    run = old.local()
    history = embedded(run, batches[:3])
    since = new.resume(run.snapshot(), of=old).metrics()["complete_from"]
    live = on_spark(spark, tmp_path, batches[3:], run.snapshot(), of=old, partitions=2)
    whole, known = (oracle(new.model, some).rows for some in (batches, batches[:3]))
    later = pa.scalar(since, pa.int64()).cast(new.model.time_type)
    made, wanted = ({str(row) for row in table.to_pylist()} for table in (live, whole))
    assert made <= wanted, "never a wrong row"
    assert not made & {str(row) for row in known.to_pylist()}, "and none that could have been known before"
    missing = whole.filter(pc.and_(pc.greater_equal(whole["result_time"], later), _before_the_end(whole)))
    assert {str(row) for row in missing.to_pylist()} - made <= {str(row) for row in known.to_pylist()}
    assert history.num_rows


def _before_the_end(rows: pa.Table) -> Any:
    return pc.less(rows["result_time"], pa.scalar(500_000_000, pa.int64()).cast(rows.schema.field(0).type))


def test_what_another_query_has_left_is_refused(spark: Any, tmp_path: Path) -> None:
    on_spark(spark, tmp_path, random_batches("AB", seed=1, batches=1), partitions=2)
    checkpoint = str(tmp_path / "checkpoint")
    with pytest.raises(dv.StateError, match=r"was not written by this query, but by:\n  stream A"):
        bare("A.k = B.k", "AB", partitions=2).snapshot_of(checkpoint, spark)
    with pytest.raises(dv.StateError, match="is no checkpoint"):
        bare(ON, "AB").snapshot_of(str(tmp_path / "A"), spark)
