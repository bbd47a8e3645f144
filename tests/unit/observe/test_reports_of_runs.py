"""Every kind of run says the same things in the same form."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.dashboard.incoming import read_line
from dovetail.dashboard.tail import Tail
from dovetail.observe.buckets import Buckets
from dovetail.observe.report import report_of

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
A, B, C = (dv.stream(name, time="ts", window="10 seconds", delay="1 second", schema=SCHEMA) for name in "ABC")
ON = "A.k = B.k AND B.k = C.k"


def one() -> Any:
    return dv.join(A, B, C, on=ON, order="hold").local()


def tree() -> Any:
    return dv.join(A, B, C, on=ON, plan="binary").local()


def shared() -> Any:
    near = dv.join(A, B, on="A.k = B.k", window="1 second").named("near")
    return dv.share(near, dv.join(A, C, on="A.k = C.k AND A.k > 1").named("far")).local()


def feed(run: Any) -> None:
    for second in range(4):
        for name in "ABC":
            run.push(name, [{"ts": second * 1_000_000 + at, "k": at % 3} for at in range(6)])


@pytest.mark.parametrize("kind", [one, tree, shared])
def test_one_form_for_every_kind_of_run(kind: Callable[[], Any]) -> None:
    run = kind()
    before = report_of(run.metrics())
    assert before["frontier"] is None
    feed(run)
    report = report_of(run.metrics())
    assert {"A", "B", "C"} == report["streams"].keys() <= report["windows"].keys()
    assert [report["streams"][name]["rows"] for name in "ABC"] == [24, 24, 24]
    assert report["results"] > 0
    assert report["frontier"] == 2_000_005
    assert all(window["bytes"] > 0 for window in report["windows"].values())


def test_a_tree_shows_the_windows_of_intermediate_results() -> None:
    run = tree()
    feed(run)
    report = report_of(run.metrics())
    assert "(A, B)" in report["windows"]
    assert "(A, B)" not in report["streams"]


def test_operators_side_by_side_store_a_stream_twice_but_see_its_rows_once() -> None:
    run = shared()
    feed(run)
    report = report_of(run.metrics())
    assert report["streams"]["A"]["rows"] == 24
    assert report["streams"]["A"]["stored"] > report["streams"]["C"]["stored"]
    assert report["results"] == sum(query["results"] for query in report["queries"].values())


@pytest.mark.parametrize("kind", [one, tree, shared])
def test_reports_of_a_run_can_be_read(kind: Callable[[], Any], tmp_path: Path) -> None:
    run = kind()
    reports = dv.report(run, name="pairs", folder=tmp_path)
    feed(run)
    last = run.close()
    lines = [read_line(value) for value, _ in Tail(tmp_path).new()]
    start, *between, end = [line for line in lines if line is not None]
    assert (start.kind, start.query, start.runtime, end.kind) == ("start", "pairs", "embedded", "end")
    assert start.about["A"]["window"] in ("10 seconds", "None")
    newest = between[-1].metrics
    assert newest is not None
    assert newest.whole["results"] == report_of(run.metrics())["results"]
    assert between[0].plans
    assert any(line.rows for line in between) or not last.num_rows
    assert reports.lost == 0
    assert reports.folder == tmp_path


def test_queries_that_share_a_run_have_their_response_times(tmp_path: Path) -> None:
    run = shared()
    dv.report(run, folder=tmp_path)
    feed(run)
    run.close()
    lines = [read_line(value) for value, _ in Tail(tmp_path).new()]
    newest = [line.metrics for line in lines if line and line.metrics][-1]
    assert newest.queries["near"]["response_s"] >= 0


def test_a_run_that_cannot_report_gives_the_same_results(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    plain, watched = one(), one()
    reports = dv.report(watched, folder=taken)
    for run in (plain, watched):
        feed(run)
    assert watched.close().equals(plain.close())
    assert reports.lost > 0


def test_only_what_runs_can_report() -> None:
    with pytest.raises(dv.DataError, match=r"report: got a Query; give a run \(query.local\(\)\)"):
        dv.report(dv.join(A, B, on="A.k = B.k"))


def bucket(number: int, streams: dict[str, int], results: int, **more: Any) -> dict[str, Any]:
    counts = {"late": 1, "unmatchable": 0, "bytes": 100, "waiting": 0, "watermark": 5_000_000 + number}
    whole = {"late_results": 0, "held": 2, "held_bytes": 20, "waiting_bytes": 0, "order": "hold", "frontier": 5_000_000}
    engine = {"streams": {name: {**counts, "stored": stored} for name, stored in streams.items()}, **whole, **more}
    return {"bucket": number, "results": results, "engine": engine}


def batch(number: int, *buckets: dict[str, Any], rows: int = 10) -> dict[str, Any]:
    streams = {name: {"rows": rows, "null_times": 0, "filtered": 1} for name in "AB"}
    return {
        "batch": number,
        "buckets": buckets,
        "streams": streams,
        "duration_ms": {"triggerExecution": 250},
        "statistics": {},
    }


def test_buckets_that_are_silent_still_store() -> None:
    buckets = Buckets()
    buckets.add(batch(7, bucket(0, {"A": 10, "B": 1}, 3), bucket(1, {"A": 5, "B": 1}, 4)))
    buckets.add(batch(8, bucket(1, {"A": 9, "B": 1}, 5)))
    report = buckets.report()
    assert report["streams"]["A"]["stored"] == 19
    assert report["streams"]["A"]["rows"] == 20
    assert report["results"] == 12
    assert report["batch"] == {"number": 8, "seconds": 0.25}
    assert report["buckets"] == 2
    assert report["frontier"] == 5_000_000


def test_in_a_chain_only_the_results_on_top_count() -> None:
    buckets = Buckets()
    buckets.add(batch(1, bucket(0, {"A": 10, "B": 1}, 100), bucket(0, {"(A, B)": 100, "C": 1}, 7)))
    report = buckets.report()
    assert report["results"] == 7
    assert report["streams"].keys() == {"A", "B", "C"}
    assert report["windows"]["(A, B)"]["stored"] == 100


def test_queries_of_a_shared_pipeline_wait_for_their_batch() -> None:
    buckets = Buckets()
    queries = {"near": {"results": 4, "held": 1, "complete_from": None}}
    buckets.add(batch(1, bucket(0, {"A": 1}, 4, queries=queries), bucket(1, {"A": 1}, 4, queries=queries)))
    assert buckets.report()["queries"] == {"near": {"results": 8, "held": 2, "response_s": 0.25}}
