"""A shared run that owns its time: what waits for work, what work gives, and what is refused."""

from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def query(name: str, window: str, **options: Any) -> dv.Query:
    a, b = (dv.stream(each, time="ts", schema=SCHEMA) for each in "AB")
    return dv.join(a, b, on="A.k = B.k", select="A.k", window=window, **options).named(name)


def started(**options: Any) -> Any:
    run = dv.share(query("near", "1 s"), query("far", "9 s"), **options).local(eager=False)
    run.push("A", [{"ts": 0, "k": 1}])
    run.push("B", [{"ts": 500_000, "k": 1}, {"ts": 5_000_000, "k": 1}])
    return run


def test_a_push_takes_arrivals_in_and_work_gives_their_results() -> None:
    run = started()
    assert run.suspended == 3
    assert run.work(0).num_rows == 0, "no time, no work"
    assert run.work()["query"].to_pylist() == ["near", "far", "far"]
    assert (run.suspended, run.work(5.0).num_rows) == (0, 0)


def test_close_works_off_all_there_is() -> None:
    assert sorted(started().close()["query"].to_pylist()) == ["far", "far", "near"]


def test_a_snapshot_waits_until_nothing_is_suspended() -> None:
    run = started()
    with pytest.raises(dv.DataError, match=r"snapshot: 3 arrivals wait to be worked off; call work\(\) first"):
        run.snapshot()
    run.work()
    again = dv.share(query("near", "1 s"), query("far", "9 s")).local(run.snapshot(), eager=False)
    again.push("A", [{"ts": 5_100_000, "k": 1}])
    assert again.work()["query"].to_pylist().count("near") == 1


def test_what_is_suspended_belongs_to_the_queries_that_were_there() -> None:
    run = started()
    run.add(query("late", "9 s"))
    assert sorted(run.work()["query"].to_pylist()) == ["far", "far", "near"]
    run.push("A", [{"ts": 5_100_000, "k": 1}])
    run.remove("far")
    assert "far" in run.work()["query"].to_pylist(), "its arrival came before it left"


def test_what_is_refused() -> None:
    limited = query("near", "1 s", budget=dv.budget(cpu=0.5))
    with pytest.raises(dv.QueryError, match="which decides itself when to work; leave out one of them"):
        dv.share(limited).local(eager=False)
    run = started()
    with pytest.raises(dv.QueryError, match="which decides itself when to work; leave out one of them"):
        run.add(query("limited", "1 s", budget=dv.budget(memory=dv.tuples(9), policy="spill")))
    assert sorted(run.work()["query"].to_pylist()) == ["far", "far", "near"], "the others go on"
    with pytest.raises(dv.QueryError, match="it is True or False"):
        dv.share(query("near", "1 s")).local(eager="no")  # type: ignore[arg-type]
    with pytest.raises(dv.DataError, match="it is a number, 0 or more, or None"):
        started().work(-1)
