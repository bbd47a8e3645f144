"""Kept late rows where rows come out on their own: no pair twice, none that is wrong, order kept, never both ways.

What may come is what an endless delay would give; late rows of a row window take no part.
"""

from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import RowWindow
from dovetail.testing import Close, Event, Push, Script, oracle, ordered, play
from dovetail.testing.history import History

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "id": pa.int64()})
WINDOWS: list[Any] = ["3 us", "0 us", "8 us", dv.rows(2), dv.rows(1, per="key")]


def query(random: Random) -> dv.Query:
    windows, delays = random.choices(WINDOWS, k=2), random.choices(["0 us", "3 us"], k=2)
    streams = [
        dv.stream(name, time="ts", window=window, delay=delay, schema=SCHEMA)
        for name, window, delay in zip("AB", windows, delays, strict=True)
    ]
    how, order = random.choice(["inner", "left", "right", "full"]), random.choice(["none", "sync", "hold", "adaptive"])
    return dv.join(*streams, on="A.k = B.k", select="A.id AS a, B.id AS b", how=how, order=order, late="keep")


def untidy(random: Random) -> Script:
    clock, number, events = 10, 0, list[Event]()
    for _ in range(random.randint(1, 20)):
        rows: list[dict[str, Any]] = []
        for _ in range(random.randint(1, 3)):
            clock, number = clock + random.choice([0, 1, 2, 5]), number + 1
            time = clock - random.choice([0, 0, 0, 2, 10, 30])
            rows.append({"ts": time, "k": random.choice([1, 2, None]), "id": number})
        events.append(Push.of(random.choice("AB"), pa.Table.from_pylist(rows, schema=SCHEMA)))
    return [*events, Close()]


def without_late_rows_of_row_windows(join: dv.Query, script: Script) -> Script:
    late = History.of(join.model, script).late
    counted = [stream.name for stream in join.model.streams if isinstance(stream.window, RowWindow)]
    gone = pa.array([row.values["id"] for name in counted for row in late[name]], pa.int64())
    return [
        Push({name: rows.filter(pc.invert(pc.is_in(rows["id"], gone))) for name, rows in event.batch.items()})
        if isinstance(event, Push)
        else event
        for event in script
    ]


@given(st.integers(0, 10**9))
def test_kept_late_rows(seed: int) -> None:
    random = Random(seed)
    join, script = query(random), untidy(random)
    rows = play(join.local(), script)
    assert join.model.order == "none" or ordered(rows)
    pairs = [(row["a"], row["b"]) for row in rows.to_pylist()]
    assert len(set(pairs)) == len(pairs)
    inner = join.replace(how="inner").model
    allowed = oracle(inner, without_late_rows_of_row_windows(join, script)).rows.to_pylist()
    matched = {pair for pair in pairs if None not in pair}
    assert matched <= {(row["a"], row["b"]) for row in allowed}
    for side in (0, 1):
        alone = {pair[side] for pair in pairs if pair[1 - side] is None}
        assert not alone & {pair[side] for pair in matched}
