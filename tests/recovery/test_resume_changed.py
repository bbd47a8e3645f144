"""A changed query goes on from another's state: nothing lost, nothing repeated, and what is missing is said."""

from collections import Counter
from itertools import permutations
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.runtime.threads.cells import Cells
from dovetail.testing import Push, Script, oracle, ordered, play
from dovetail.testing.compare import _counted
from tests.properties.test_threads import small_pushes
from tests.spark.feeding import random_batches
from tests.spark.queries import SCHEMA

SECOND = 1_000_000
KEYS = "A.k = B.k AND A.n < B.n"
ALL, FEW = "A.row AS a, B.row AS b, A.x AS x", "B.row AS b"


def query(window: Any = 4, select: str = ALL, on: str = KEYS, names: str = "AB", **options: Any) -> dv.Query:
    """Times as they are in ``SCHEMA``; ``window`` in seconds, or one for each stream."""
    windows = window if isinstance(window, dict) else dict.fromkeys(names, window)
    spans = {name: f"{value} seconds" if isinstance(value, int) else value for name, value in windows.items()}
    streams = [dv.stream(name, time="ts", window=spans[name], delay="3 seconds", schema=SCHEMA) for name in names]
    if options.get("how") in ("semi", "anti"):
        select = "A.row AS a, A.x AS x" if select == ALL else "A.row AS a"
    return dv.join(*streams, on=on, select=select, **options)


def parts(seed: int, names: str = "AB", count: int = 9) -> tuple[Script, Script]:
    """What comes before the change, and what comes after it."""
    batches = random_batches(names, seed=seed, batches=8, count=count)
    single = [Push.of(name, rows) for push in batches for name, rows in push.batch.items()]
    return single[: len(single) // 2], single[len(single) // 2 :]


def rows_of(table: pa.Table, since_us: int = 0) -> Counter[Any]:
    since = pa.scalar(since_us, pa.int64()).cast(table.schema.field("result_time").type)
    return _counted(table.filter(pc.greater_equal(table["result_time"], since)))


def check(old: dv.Query, new: dv.Query, seed: int, names: str = "AB", count: int = 9) -> int:
    """Compare with the oracle; from which time on it holds."""
    before, after = parts(seed, names, count)
    run = old.local()
    given = play(run, before)
    resumed = new.resume(run.snapshot(), of=old)
    since = resumed.metrics().get("complete_from") or 0
    rows = pa.concat_tables([play(resumed, after), resumed.close()])
    whole, known = oracle(new.model, [*before, *after]).rows, oracle(new.model, before).rows
    made, waited = rows_of(whole) - rows_of(known), rows_of(oracle(old.model, before).rows) - rows_of(given)
    if old.model.schema == new.model.schema and old.model.how == "inner":
        assert not rows_of(rows) - made - waited, "never a wrong row, never one twice"
    expected = rows_of(whole, since) - rows_of(known, since)
    assert not expected - rows_of(rows, since), "nothing is missing from then on"
    assert new.model.order == "none" or ordered(rows)
    return since


ORDERS = ("none", "hold", "sync", "adaptive")


@pytest.mark.parametrize("how", ["inner", "left", "full", "semi", "anti"])
@pytest.mark.parametrize(("old", "new"), list(permutations(ORDERS, 2)))
def test_another_order(old: str, new: str, how: str) -> None:
    """Unmatched rows are certain only at the end, so the whole of it is compared."""
    before, after = parts(3)
    first, second = query(order=old, how=how), query(order=new, how=how)
    run = first.local()
    given = play(run, before)
    resumed = second.resume(run.snapshot(), of=first)
    rows = pa.concat_tables([play(resumed, after), resumed.close()])
    assert rows_of(given) + rows_of(rows) == rows_of(oracle(second.model, [*before, *after]).rows)
    assert new == "none" or ordered(rows)
    assert "complete_from" not in resumed.metrics()


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(["none", "hold"]), st.integers(0, 50))
def test_another_window(old: int, new: int, order: str, seed: int) -> None:
    since = check(query(old, order=order), query(new, order=order), seed)
    assert (since > 0) == (new > old)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 50))
def test_other_windows_of_three_streams(a: int, b: int, c: int, seed: int) -> None:
    on = "A.k = B.k AND B.g = C.g"
    select = "A.row AS a, B.row AS b, C.row AS c"
    old = query(3, select, on, "ABC")
    check(old, query({"A": a, "B": b, "C": c}, select, on, "ABC"), seed, "ABC", count=2)


@pytest.mark.parametrize("order", ["none", "hold", "sync"])
def test_fewer_columns(order: str) -> None:
    assert check(query(order=order), query(select=FEW, order=order), 4) == 0


def test_more_columns_are_complete_once_the_windows_have_refilled() -> None:
    since = check(query(select=FEW), query(select=ALL), 4)
    assert since > 0
    before, _ = parts(4)
    newest = max(pc.max(push.batch["A"]["ts"]).value for push in before if isinstance(push, Push) and "A" in push.batch)
    assert since == newest + 4 * SECOND + 1


@pytest.mark.parametrize("algorithm", ["hash", "scan", "sorted"])
def test_other_algorithms_with_another_window(algorithm: str) -> None:
    on = "A.k = B.k AND ABS(A.n - B.n) <= 20"
    check(query(4, on=on), query(3, on=on, algorithm=algorithm), 5)


@pytest.mark.parametrize("threads", [1, 2])
def test_another_number_of_threads(threads: int) -> None:
    before, after = parts(6)
    old, new = query(4), query(3)
    with small_pushes():
        run = old.local(threads=2)
        play(run, before)
        assert isinstance(run.operator, Cells)
        assert len(run.operator.cells) == 2
        resumed, alone = (new.resume(run.snapshot(), of=old, threads=n) for n in (threads, 1))
        assert rows_of(play(resumed, after)) == rows_of(play(alone, after))


def test_the_same_query_needs_no_name_of_the_old_one() -> None:
    before, after = parts(7)
    run = query().local()
    play(run, before)
    resumed = query().resume(run.snapshot())
    assert rows_of(play(resumed, after)) == rows_of(play(run, after))


def test_complete_from_is_told_by_later_snapshots_too() -> None:
    before, _ = parts(4)
    old, new = query(2), query(6)
    run = old.local()
    play(run, before)
    resumed = new.resume(run.snapshot(), of=old)
    assert new.local(snapshot=resumed.snapshot()).metrics()["complete_from"] == resumed.metrics()["complete_from"]
    again = query(3).resume(resumed.snapshot(), of=new)
    assert again.metrics()["complete_from"] == resumed.metrics()["complete_from"]


ROWS = {"A": dv.rows(3), "B": "4 seconds"}
REFUSED = [
    (query(), query(on="A.k = B.k"), "the conditions of the two queries differ"),
    (query(), query(how="left"), "the join of the two queries differ"),
    (query(), query(ROWS), "only the length of a time window can change"),
    (query(ROWS, how="left"), query({**ROWS, "B": 3}, how="left"), "stream 'A', whose rows leave at no certain time"),
    (query(how="full", select=FEW), query(how="full"), "in a full join column"),
    (query(ROWS, FEW), query(ROWS, ALL), "has a row window, and its stored rows lack column"),
    (query(order="hold", select=FEW), query(order="hold"), "they lack column 'a', which is new"),
    (query(budget=dv.budget(memory=dv.tuples(20), policy="spill")), query(3), "without a budget"),
]


@pytest.mark.parametrize(("old", "new", "why"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_go_over_is_refused(old: dv.Query, new: dv.Query, why: str) -> None:
    before, _ = parts(4)
    run = old.local()
    play(run, before)
    with pytest.raises(dv.StateError, match=why):
        new.resume(run.snapshot(), of=old)


def test_a_snapshot_of_a_third_query_is_refused() -> None:
    with pytest.raises(dv.StateError, match="belongs to another query"):
        query(3).resume(query(5).local().snapshot(), of=query(4))
