"""A pause of the inputs goes on where the next tick is heard: after a snapshot, or on another worker."""

import numpy as np

import dovetail as dv
from benchmarks.spill_delay import BATCH_US, SCHEMA, WINDOW, table

ROWS, BATCHES = 20, 8


def found(budget: dv.Budget | None, moves: bool) -> int:
    """Results that are out after two ticks without rows; if it moves, every call is another process's."""
    streams = [dv.stream(name, time="ts", window=f"{WINDOW * BATCH_US} microseconds", schema=SCHEMA) for name in "AB"]
    query = dv.join(*streams, on="A.k = B.k", select="A.n AS a, B.n AS b", budget=budget)
    run, results, random = query.local(threads=1), 0, np.random.default_rng(3)
    for batch in range(BATCHES + 2):
        if batch < BATCHES:
            results += sum(run.push(name, table(random, batch, ROWS)).num_rows for name in "AB")
        results += run.tick((batch + 1) * BATCH_US).num_rows
        if moves:
            run = query.local(threads=1, snapshot=run.snapshot())
    return results


def test_what_is_owed_comes_out_in_a_pause_though_every_tick_is_heard_elsewhere() -> None:
    little = dv.budget(memory=dv.tuples(2 * ROWS * BATCHES // 4), policy="spill")
    everything = found(None, moves=False)
    assert found(little, moves=False) == everything
    assert found(little, moves=True) == everything
