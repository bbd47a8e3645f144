"""Times and windows at the ends of what is allowed: nothing overflows, results are the oracle's."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from dovetail.model.window import TimeWindow, Window
from dovetail.testing import Push, Script, assert_same_rows, oracle

FARTHEST = 1 << 60  # of rows, windows and delays
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999  # the years 1 to 9999: what the oracle can read
TIMES = st.sampled_from([FIRST, FIRST + 1, -1, 0, 1, LAST - 1, LAST])
ENDS = [-FARTHEST, FARTHEST - 1, FARTHEST, -FARTHEST + 1, 0]
LENGTHS = st.sampled_from([0, 1, FARTHEST - 1, FARTHEST])
WINDOWS: st.SearchStrategy[Window] = LENGTHS.map(TimeWindow) | st.just(dv.rows(2))
ORDERS = ("none", "hold", "sync")
KINDS: list[dict[str, Any]] = [
    {"how": how, "order": order} for how, order in zip(("inner", "full", "semi", "anti"), ORDERS * 2, strict=False)
]


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    pushes = draw(st.lists(st.tuples(st.sampled_from("AB"), st.lists(TIMES, min_size=1, max_size=3)), max_size=5))
    return [Push.of(name, pa.table({"ts": times, "k": [1] * len(times)}, SCHEMA)) for name, times in pushes]


@pytest.mark.parametrize("options", KINDS, ids=str)
@settings(deadline=None, max_examples=20)
@given(scripts(), WINDOWS, WINDOWS, LENGTHS, st.none() | LENGTHS)
def test_results_at_the_ends_of_the_calendar_are_the_oracles(
    options: dict[str, Any], script: Script, first: Window, second: Window, delay: int, ahead: int | None
) -> None:
    a, b = (
        dv.stream(
            n, time="ts", window=w, delay=f"{delay} us", ahead=ahead if ahead is None else f"{ahead} us", schema=SCHEMA
        )
        for n, w in (("A", first), ("B", second))
    )
    join = dv.join(a, b, on="A.k = B.k", select="A.k", **options)
    engine, found = Engine(join.plan), []
    for event in script:
        assert isinstance(event, Push)
        found += list(engine.push(event.batch))
        state = engine.state()
        engine = Engine.restore(join.plan, state.new, state.header)
    found += list(engine.close())
    rows, expected = pa.Table.from_batches(found, join.schema), oracle(join.model, script).rows
    assert_same_rows(numbered(rows), numbered(expected))


def numbered(rows: pa.Table) -> pa.Table:
    """Result times as numbers: unmatched rows may come out later than any calendar goes."""
    return rows.set_column(0, "result_time", rows["result_time"].cast(pa.int64()))


@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.parametrize("window", [TimeWindow(0), TimeWindow(FARTHEST), dv.rows(2)], ids=str)
def test_nothing_overflows_at_the_ends_of_what_is_allowed(options: dict[str, Any], window: Window) -> None:
    a, b = (dv.stream(n, time="ts", window=window, delay=f"{FARTHEST} us", schema=SCHEMA) for n in "AB")
    join = dv.join(a, b, on="A.k = B.k", select="A.k", **options)
    engine, found = Engine(join.plan), 0
    for name in "ABAB":
        rows = pa.table({"ts": ENDS, "k": [1] * len(ENDS)}, SCHEMA)
        found += sum(batch.num_rows for batch in engine.push({name: rows}))
        state = engine.state()
        engine = Engine.restore(join.plan, state.new, state.header)
    found += sum(batch.num_rows for batch in engine.close())
    assert found > 0 or options["how"] == "anti"


@pytest.mark.parametrize("time", [FARTHEST + 1, -FARTHEST - 1, 2**63 - 1, -(2**63)])
def test_times_beyond_the_ends_are_refused_and_promises_are_not(time: int) -> None:
    a, b = (dv.stream(n, time="ts", window="36500 days", schema=SCHEMA) for n in "AB")
    run = dv.join(a, b, on="A.k = B.k").local()
    with pytest.raises(dv.DataError, match="times lie within 36,000 years of 1970"):
        run.push("A", pa.table({"ts": [time], "k": [1]}, SCHEMA))
    run.advance("A", time)
    run.tick(time)
    assert run.push("B", pa.table({"ts": [0], "k": [1]}, SCHEMA)).num_rows == 0
    assert run.push("A", pa.table({"ts": [5], "k": [1]}, SCHEMA)).num_rows == (0 if time > 0 else 1)
    run.snapshot()
    run.close()


@pytest.mark.parametrize("time", [2**63, -(2**63) - 1, 10**30])
def test_times_beyond_64_bits_are_told(time: int) -> None:
    a, b = (dv.stream(n, time="ts", window="1 s", schema=SCHEMA) for n in "AB")
    run = dv.join(a, b, on="A.k = B.k").local()
    with pytest.raises(dv.DataError, match=f"{time} is not a time: microseconds since 1970 fit into 64 bits"):
        run.advance("A", time)
    with pytest.raises(dv.DataError, match=f"{time} is not a time: microseconds since 1970 fit into 64 bits"):
        run.tick(time)
    assert run.push("A", pa.table({"ts": [5], "k": [1]}, SCHEMA)).num_rows == 0
