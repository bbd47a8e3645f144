"""Runs on several threads: what is seen from outside is one run, also where something goes wrong."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.kernel import kernel
from dovetail.runtime.local import Run
from dovetail.runtime.threads import pays
from dovetail.runtime.threads.cells import Cells
from dovetail.runtime.threads.pool import in_parallel
from dovetail.testing import assert_same_rows

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64()})
SECOND = 1_000_000


@pytest.fixture(autouse=True)
def pushes_of_a_hundred_are_large() -> Iterator[None]:
    with patch.object(pays, "LARGE_ROWS", 100), patch.object(pays, "_FEW_PUSHES", 2):
        yield


def rows(seed: int, count: int = 200, start: int = 0) -> pa.Table:
    random = np.random.default_rng(seed)
    times = pa.array(start + np.arange(count) * 10_000).cast(pa.timestamp("us"))
    return pa.table({"ts": times, "k": random.integers(0, 20, count), "x": random.random(count)}, SCHEMA)


def join(on: str = "A.k = B.k", **options: Any) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="1 second", delay="1 second", schema=SCHEMA) for name in "AB"]
    return dv.join(*streams, on=on, **options)


def cells(run: Run) -> int:
    return len(run.operator.cells) if isinstance(run.operator, Cells) else 1


def push_both(run: Run, seed: int, start: int = 0, count: int = 200) -> pa.Table:
    return pa.concat_tables([run.push("A", rows(seed, count, start)), run.push("B", rows(seed + 1, count, start))])


def test_large_pushes_are_shared_and_small_ones_are_not() -> None:
    run = join().local(threads=2)
    push_both(run, 1, count=10)
    assert cells(run) == 1
    push_both(run, 3, SECOND)
    assert cells(run) == 2
    for seed in range(10, 14):
        push_both(run, seed, 3 * SECOND, count=10)
    assert cells(run) == 1


def test_one_thread_has_no_cells() -> None:
    assert not isinstance(join().local(threads=1).operator, Cells)


def test_collect_gives_the_same_rows() -> None:
    streams = [dv.stream(name, rows(at, 5000), time="ts", window="1 second") for at, name in enumerate("AB")]
    query = dv.join(*streams, on="A.k = B.k")
    assert_same_rows(query.collect(threads=4), query.collect(threads=1))


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_threads_must_be_a_number(threads: Any) -> None:
    for start in (join().local, join().collect):
        with pytest.raises(dv.QueryError, match="it is a whole number, 1 or more, or None for all cores"):
            start(threads=threads)


def test_metrics_are_those_of_one_thread() -> None:
    several, one = join(order="hold").local(threads=3), join(order="hold").local(threads=1)
    for run in (several, one):
        push_both(run, 1, 5 * SECOND)
        with pytest.warns(dv.LateRowsWarning, match="of 400 rows so far were late"):
            run.push("A", rows(7))
    assert cells(several) == 3
    found, expected = several.metrics(), one.metrics()
    assert found["cells"] == 3
    for name in "AB":
        counted = {key: found["streams"][name][key] for key in ("rows", "late", "stored", "watermark", "lateness_us")}
        assert counted.items() <= expected["streams"][name].items()
    assert {key: found[key] for key in ("results", "held", "frontier", "order")}.items() <= expected.items()


def test_diverted_rows_come_once() -> None:
    run = join(late="divert").local(threads=3)
    push_both(run, 1, 5 * SECOND)
    run.push("A", rows(7))
    assert cells(run) == 3
    again = join(late="divert").local(run.snapshot(), threads=2)
    assert run.late.num_rows == again.late.num_rows == 200
    assert run.take_late().num_rows == 200
    assert run.late.num_rows == 0


def test_a_band_that_copies_rows_counts_each_once() -> None:
    run = join("ABS(A.x - B.x) <= 0.01").local(threads=2)
    push_both(run, 1)
    assert cells(run) == 2
    assert {name: each["rows"] for name, each in run.metrics()["streams"].items()} == {"A": 200, "B": 200}
    again = join("ABS(A.x - B.x) <= 0.01").local(run.snapshot())
    assert {name: each["rows"] for name, each in again.metrics()["streams"].items()} == {"A": 200, "B": 200}


def test_the_snapshot_does_not_tell_how_many_threads_there_were() -> None:
    several, one = join(how="left").local(threads=3), join(how="left").local(threads=1)
    for run in (several, one):
        push_both(run, 1)
    assert cells(several) == 3
    states = [run.operator.state() for run in (several, one)]
    assert states[0].new.keys() == states[1].new.keys()
    found, expected = (json.loads(state.header)["sections"] for state in states)
    assert found.pop("given/A") != expected.pop("given/A"), "notes of all tuples are one slice more"
    assert found == expected


def failing(error: type[BaseException], at: float) -> Callable[[pa.Array, pa.Array], pa.Array]:
    def close(left: pa.Array, right: pa.Array) -> pa.Array:
        if np.any(left.to_numpy() == at):
            raise error("no")
        return pa.array(left.to_numpy() < right.to_numpy() + 1)

    return close


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failing_function_leaves_the_run_as_before(error: type[BaseException]) -> None:
    bad = rows(5, start=SECOND).set_column(2, "x", pa.array([7.0] * 200))
    name = f"close_{error.__name__}"
    dv.function(name, failing(error, 7.0), [pa.float64(), pa.float64()], pa.bool_())
    query = join(f"A.k = B.k AND {name}(A.x, B.x)")
    run, calm = query.local(threads=2), query.local(threads=2)
    push_both(run, 1), push_both(calm, 1)
    assert cells(run) == 2
    with pytest.raises((error, dv.DovetailError)):
        run.push("A", bad)
    assert_same_rows(push_both(run, 9, SECOND), push_both(calm, 9, SECOND))


def test_a_failure_without_a_way_back_ends_the_run() -> None:
    run = join().local(threads=2)
    push_both(run, 1)
    assert isinstance(run.operator, Cells)
    with patch.object(run.operator.cells[1], "push", side_effect=MemoryError("too much")), pytest.raises(MemoryError):
        run.push("A", rows(5, start=SECOND))
    with pytest.raises(dv.DataError, match="a call before failed half-way"):
        run.push("A", rows(6, start=2 * SECOND))


def test_rows_that_do_not_fit_change_nothing() -> None:
    run, calm = join().local(threads=2), join().local(threads=2)
    push_both(run, 1), push_both(calm, 1)
    with pytest.raises(dv.DataError, match="no column 'k'"):
        run.push("A", rows(5).drop_columns(["k"]))
    assert_same_rows(push_both(run, 9), push_both(calm, 9))


def test_an_error_is_raised_once_all_tasks_have_ended() -> None:
    ended = threading.Event()

    def fails() -> None:
        raise ValueError("first")

    def waits() -> None:
        threading.Event().wait(0.05)
        ended.set()

    with pytest.raises(ValueError, match="first"):
        in_parallel([fails, waits])
    assert ended.is_set()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"select": "COUNT(*) AS n"}, "no key keeps their groups apart"),
        ({"budget": dv.budget(memory="1 MB", policy="spill")}, "its budget is that of one engine"),
        ({"on": "A.x < B.x", "how": "full"}, "cannot be dealt out"),
        ({"on": "ABS(A.x - B.x) <= 1", "late": "divert"}, "would be diverted several times"),
    ],
)
def test_what_cannot_be_split_says_so(options: dict[str, Any], reason: str) -> None:
    query = join(**options)
    assert not isinstance(query.local(threads=4).operator, Cells)
    explained = query.explain()
    assert "embedded, on one thread" in explained
    assert reason in explained
    assert "on one thread" not in join().explain()


def test_a_row_window_over_a_whole_stream_says_so() -> None:
    a, b = (dv.stream(name, time="ts", window=dv.rows(3), schema=SCHEMA) for name in "AB")
    query = dv.join(a, b, on="A.k = B.k")
    assert not isinstance(query.local(threads=4).operator, Cells)
    assert "on one thread\n  the window of A counts rows of the whole stream" in query.explain()


def test_an_asof_join_that_can_be_undone_says_why_it_has_one_thread() -> None:
    a, b = (dv.stream(n, time="ts", schema=SCHEMA, asof=dv.asof() if n == "B" else None) for n in "AB")
    for on_error, several in (("raise", True), ("divert", False)):
        query = dv.join(a, b, on="A.k = B.k", on_error=on_error)
        assert isinstance(query.local(threads=2).operator, Cells) is several
        assert ("whose calls can be undone" in query.explain()) is not several


def test_an_interrupt_while_others_work_is_raised_once_they_have_ended() -> None:
    ended = threading.Event()

    def waits() -> None:
        threading.Event().wait(0.3)
        ended.set()

    interrupt = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        in_parallel([lambda: None, waits])
    assert ended.is_set()


INTERRUPTED = """
import signal, sys, threading
import numpy as np, pyarrow as pa
import dovetail as dv

schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
streams = [dv.stream(name, time="ts", window="1 second", schema=schema) for name in "AB"]
run = dv.join(*streams, on="A.k = B.k").local(threads=2)

def push(name, at):
    times = pa.array(at * 100_000 + np.arange(100_000)).cast(pa.timestamp("us"))
    return run.push(name, pa.table({"ts": times, "k": np.arange(100_000) % 5_000}, schema))

try:
    for at in range(1_000_000):
        push("A", at), push("B", at)
        if at == 2:
            assert len(run.operator.cells) == 2
            print("joining", flush=True)
except KeyboardInterrupt:
    try:
        push("A", at + 1)
        print("went on")
    except dv.DataError as error:
        print(error)
"""


def test_an_interrupt_that_compiled_code_notices_is_an_interrupt() -> None:
    """Python raises SystemError from it where a compiled function returns while a signal is handled."""

    def loop() -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    loaded = kernel("void()")(loop)
    loaded.run = loop
    with pytest.raises(KeyboardInterrupt):
        loaded()


def test_control_c_ends_a_run_on_threads() -> None:
    """The signal comes wherever it comes: the run goes on, or says that a call failed half-way; nothing hangs."""
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "joining\n"
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    assert "went on" in said or "a call before failed half-way" in said


def test_aggregates_are_dealt_out_by_a_key_of_their_groups() -> None:
    streams = join().model.streams
    query = dv.sql("SELECT A.k, COUNT(*) AS n, SUM(B.x) AS x FROM A, B WHERE A.k = B.k GROUP BY A.k", *streams)
    run, one = query.local(threads=3), query.local(threads=1)
    several = [push_both(run, 1), push_both(run, 3, SECOND)]
    assert cells(run) == 3
    for at, threads in enumerate((1, 2)):
        run = query.local(run.snapshot(), threads=threads)
        several.append(push_both(run, 5 + at, (2 + at) * SECOND, 900))
    assert cells(run) == 2
    pushes = ((1, 200), (3, 200), (5, 900), (6, 900))
    alone = [push_both(one, seed, at * SECOND, count) for at, (seed, count) in enumerate(pushes)]
    assert_same_rows(pa.concat_tables([*several, run.close()]), pa.concat_tables([*alone, one.close()]))
    apart = dv.sql("SELECT A.x, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.x", *streams)
    assert "no key keeps their groups apart" in apart.explain()


@pytest.mark.parametrize("asof", [dv.asof(), dv.asof("nearest", tolerance="1 second")])
def test_an_as_of_join_is_dealt_out_by_its_keys(asof: dv.AsOf) -> None:
    other = dv.stream("B", time="ts", schema=SCHEMA, delay="1 second", asof=asof)
    query = dv.join(dv.stream("A", time="ts", schema=SCHEMA, delay="1 second"), other, on="A.k = B.k", how="left")
    run, one = query.local(threads=3), query.local(threads=1)
    several = [push_both(run, 1), push_both(run, 3, SECOND)]
    assert cells(run) == 3
    moved = query.local(run.snapshot(), threads=1)
    several += [push_both(moved, 5, 2 * SECOND), moved.close()]
    alone = [push_both(one, 1), push_both(one, 3, SECOND), push_both(one, 5, 2 * SECOND), one.close()]
    assert_same_rows(pa.concat_tables(several), pa.concat_tables(alone))


def test_an_as_of_join_with_a_budget_runs_on_one_thread() -> None:
    other = dv.stream("B", time="ts", schema=SCHEMA, asof=dv.asof())
    query = dv.join(
        dv.stream("A", time="ts", schema=SCHEMA), other, on="TRUE", budget=dv.budget(memory="1 GB", policy="fail")
    )
    assert not isinstance(query.local(threads=4).operator, Cells)
    assert query.explain().endswith("embedded, on one thread\n  its budget is that of one engine")


def test_a_failed_push_is_undone_on_threads_that_took_over_rows() -> None:
    fails = [False]

    def close_by(a: pa.Array, b: pa.Array) -> pa.Array:
        if fails[0]:
            raise ValueError("not now")
        return pc.less(pc.abs(pc.subtract(a, b)), 0.5)

    dv.function("close_by", close_by, ["double", "double"], "bool")
    query = join("A.k = B.k AND close_by(A.x, B.x)")

    def pushed(threads: int) -> list[int]:
        """Few rows, which one thread joins; then many, so that both do; each after a try that fails."""
        run, counts = query.local(threads=threads), [0]
        for place, count in enumerate((50, 50, 200, 200, 200, 200)):
            arriving = rows(place, count, place // 2 * SECOND)
            fails[0] = counts[-1] > 0
            if fails[0]:
                with pytest.raises(dv.DataError, match="not now"):
                    run.push("AB"[place % 2], arriving)
                fails[0] = False
            counts.append(run.push("AB"[place % 2], arriving).num_rows)
        assert isinstance(run.operator, Cells) == (threads > 1)
        return [*counts, run.close().num_rows]

    assert pushed(2) == pushed(1)
