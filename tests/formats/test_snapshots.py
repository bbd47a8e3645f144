"""States of every format ever written are read: a run that goes on from one gives the rows of a run without a pause."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dovetail.runtime.local import Run
from dovetail.testing import assert_same_rows
from tests.formats.queries import AFTER, BEFORE, SINCE_2, local_of, pushes, queries, streams_of, threads_at_once

FILES = sorted(Path(__file__).parent.glob("snapshots_*/*.snapshot"))


def played(run: Run, names: str, seconds: tuple[int, int]) -> list[pa.Table]:
    with threads_at_once():
        return [run.push(name, rows) for name, rows in pushes(names, *seconds)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_run_goes_on_from_what_was_written(path: Path) -> None:
    query = queries()[path.stem]
    how = local_of(path.stem)
    whole, names = query.local(**how), streams_of(query)
    before = pa.concat_tables(played(whole, names, BEFORE))
    resumed = query.local(snapshot=path.read_bytes(), **how)
    marks = watermarks(resumed)
    rows, expected = (pa.concat_tables([*played(run, names, AFTER), run.close()]) for run in (resumed, whole))
    assert expected.num_rows > 0
    if path.stem == "by_stream":
        rows = without_what_waited(rows, expected, before, marks)
    assert_same_rows(rows, expected)
    assert counted(resumed) == counted(whole)


def without_what_waited(rows: pa.Table, expected: pa.Table, before: pa.Table, marks: list[int]) -> pa.Table:
    """Rows of a join by stream waited in this format until one of their rows had left; now they are out before."""
    found, later, earlier = (
        Counter(map(tuple, zip(*each.to_pydict().values(), strict=True))) for each in (rows, expected, before)
    )
    waited = found - later
    assert waited <= earlier
    times = before["result_time"].cast(pa.int64())
    certainly = before.filter(pc.greater_equal(times, max(marks)))
    assert 0 < certainly.num_rows <= waited.total() <= pc.sum(pc.greater_equal(times, min(marks))).as_py()
    return expected if found == later + waited else rows


def counted(run: Run) -> dict[str, int]:
    """Rows of each stream since the beginning, those before the pause included."""
    metrics = run.metrics()
    streams = metrics["streams"] if "streams" in metrics else next(iter(metrics["operators"].values()))["streams"]
    return {name: stream["rows"] for name, stream in streams.items()}


def watermarks(run: Run) -> list[int]:
    """How far each stream has come, of a run of one operator."""
    return [stream["watermark"] for stream in run.metrics().get("streams", {}).values()]


def test_every_query_is_kept_in_every_format() -> None:
    kept: dict[str, set[str]] = {}
    for path in FILES:
        kept.setdefault(path.parent.name, set()).add(path.stem)
    assert kept == {"snapshots_1": set(queries()) - set(SINCE_2), "snapshots_2": set(queries())}
