"""What a running join tells about itself: to the live page, and per batch on Spark."""

from typing import TYPE_CHECKING, Any

from dovetail.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def report(running: Any, query: Any = None, *, name: str | None = None, folder: "str | Path | None" = None) -> Any:
    """Have a running join write reports, about one a second, for ``dovetail dashboard`` to show.

    ``running`` is a run, or Spark's streaming query (then ``query``, which it was made from, lets the page show the
    plan). Reports go to private files that stay small, in ``folder`` or one of the user's own; a run that cannot
    write them goes on and counts them as lost. Returns what reports: its ``folder``, and how many were ``lost``.

    >>> import dovetail as dv, pyarrow as pa, tempfile
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", window="10 seconds", schema=schema) for name in "AB")
    >>> run = dv.join(a, b, on="A.k = B.k").local()
    >>> reports = dv.report(run, name="pairs", folder=tempfile.mkdtemp())
    >>> run.push("A", [{"ts": 3_000_000, "k": 1}]).num_rows, run.close().num_rows, reports.lost
    (0, 0, 0)
    """
    from dovetail.runtime.start_reports import start_reports

    return start_reports(running, query, name, folder)


def spark_metrics(streaming_query: Any) -> list[dict[str, Any]]:
    """What a running pipeline did, per batch and bucket; the batches that Spark still remembers, oldest first.

    Rows in per stream, results, late rows, stored tuples and bytes, and the time spent packing, loading state,
    joining and writing state, with how each bucket's engine was found (cached, caught up, loaded).

    >>> import dovetail as dv
    >>> from types import SimpleNamespace
    >>> dv.spark_metrics(SimpleNamespace(recentProgress=[]))  # a query that has not run a batch yet
    []
    """
    if not hasattr(streaming_query, "recentProgress"):
        named = type(streaming_query).__name__
        raise DataError(f"spark_metrics: got a {named}; give Spark's streaming query, which .start() returns")
    from dovetail.runtime.spark.metrics import spark_metrics as metrics

    return metrics(streaming_query)
