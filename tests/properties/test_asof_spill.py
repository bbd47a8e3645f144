"""As-of joins, tables and matches with too little memory and the policy "spill": the oracle's rows, each once."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.policies.asof import on_disk
from dovetail.testing import Close, Event, Push, Script, Tick, assert_same_rows, oracle, ordered
from tests.properties.test_asof import asof_queries, few_rows_are_cleared_away, with_a_word_each
from tests.properties.test_match import match_queries
from tests.properties.test_orders import ORDERS
from tests.properties.test_spill import budgets, orders, paused_scripts
from tests.properties.test_stepwise_spill import played
from tests.properties.test_tables import table_queries

__all__ = ["few_rows_are_cleared_away"]
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "s": pa.string(), "v": pa.int64()})


@given(st.data())
def test_the_rows_are_the_oracles(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries() | asof_queries() | table_queries() | match_queries())
    script = data.draw(paused_scripts(drawn))
    words = (
        {} if any(each.asof is None and each.match for each in drawn.streams) else with_a_word_each(data.draw, drawn)
    )
    query = drawn.build(budget=data.draw(budgets), order=data.draw(orders), **({"how": words} if words else {}))
    with patch.object(on_disk, "_SHARE", data.draw(st.sampled_from([0.25, 2.0]))):
        rows, run = played(query, script, data.draw(st.sets(st.integers(0, len(script) - 1), max_size=3)))
    memory = run.metrics()["memory"]
    event(f"flushed: {memory['flushes'] > 0}, from disk: {memory['disk_results'] > 0}")
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


def dense(seed: int, on: str, **options: Any) -> tuple[Any, Script]:
    """Trades and two kinds of quotes: few keys, ties, streams that lag, and now and then a pause."""
    random = np.random.default_rng(seed)
    tolerance = [None, None, 5, 40][int(random.integers(4))] if "v" not in on else 20
    streams = [dv.stream("T", time="ts", schema=SCHEMA, delay=f"{random.integers(4)} microseconds")]
    for name in "QR":
        direction: Any = str(random.choice(["backward", "forward", "nearest"]))
        asof = dv.AsOf(direction, tolerance, bool(random.integers(2)))
        streams.append(dv.stream(name, time="ts", schema=SCHEMA, asof=asof, delay=f"{random.integers(9)} microseconds"))
    how = {name: str(random.choice(["inner", "left"])) for name in "QR"}
    query = dv.join(*streams, on=on, select="T.v AS t, Q.v AS q, R.v AS r, R.s AS s", how=how, **options)
    clock = dict.fromkeys("TQR", 0)
    script: list[Event] = []
    for at in range(60):
        name = str(random.choice(list("TTQQR")))
        count = int(random.integers(1, 9))
        times = np.sort(clock[name] + random.integers(0, 6, count))
        clock[name] = max(clock.values()) - int(random.integers(0, 6))
        keys = random.integers(0, 5, count)
        texts = [None if key == 4 else "xyz"[key % 3] for key in keys]
        columns = [
            pa.array(times).cast(pa.timestamp("us")),
            pa.array(keys),
            pa.array(texts),
            pa.array(random.integers(0, 9, count)),
        ]
        script.append(Push.of(name, pa.table(columns, SCHEMA)))
        if random.integers(12) == 0:
            script += [Tick(10**15 + at * 10**9), Tick(10**15 + at * 10**9 + 10**8)]
    return query, [*script, Close()]


TIES = [
    "T.k = Q.k AND T.k = R.k",
    "T.k = Q.k AND T.s = R.s",
    "T.s = Q.s AND T.k = Q.k AND T.v <= R.v + 3",
    "T.k = Q.k AND T.k = R.k AND T.v <> R.v",
]


@settings(max_examples=60)
@given(st.integers(0, 1_000_000), st.sampled_from(TIES), st.sampled_from(["none", *ORDERS]), st.integers(1, 60))
def test_many_rows_of_few_keys(seed: int, on: str, order: str, most: int) -> None:
    query, script = dense(seed, on, order=order, budget=dv.budget(memory=dv.tuples(most), policy="spill"))
    random = np.random.default_rng(seed)
    rows, run = played(query, script, set(random.integers(0, len(script), 2).tolist()))
    memory = run.metrics()["memory"]
    event(f"passes: {memory['passes'] > 1}, from disk: {memory['disk_results'] > 0}")
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert order == "none" or ordered(rows)
