"""How late results come out that are owed by joins from disk, beside a join that has all the memory it wants.

Two streams, one key, windows of a twentieth of the run. Memory holds a quarter of both windows. Inputs pause for a
tenth of the time: after every nine batches nothing comes for as long as a batch takes, told by two ticks. Counted is
what is out after each tenth of the input; in the end both must have given the same rows.

On Spark the same is told by files, one of each stream in a batch, and a pause lasts as long as one of the batches
before it took. What is still owed when the last file was read is not out; it is brought out in the end
(``query.finish``), so that the rows can be compared.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dovetail as dv
from benchmarks.checksum import Sum, sum_of
from benchmarks.report import Report
from benchmarks.settings import Settings

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "n": pa.int64()})
BATCHES, TENTHS, BETWEEN = 360, 10, 9
BATCH_US, PARTNERS = 10_000, 5
WINDOW = BATCHES // 20
SPARK_BATCHES = 80


def run(settings: Settings) -> Report:
    """Both joins over the same batches."""
    rows = settings.size(36_000, 18_000) // BATCHES
    memory = dv.tuples(2 * rows * WINDOW // 4)
    whole, whole_sum = outputs(rows, None)
    little, little_sum = outputs(rows, dv.budget(memory=memory, policy="spill"))
    shares = _shares(little, whole)
    counts, sums = zip(*(outputs_on_spark(rows, each) for each in (None, memory)), strict=True)
    spark_shares = _shares(counts[1], counts[0])
    fields: dict[str, Any] = {
        "rows": rows * BATCHES,
        "results": whole_sum.rows,
        "results_equal": whole_sum == little_sum and sums[0] == sums[1],
        "embedded": {"unlimited": whole, "spilling": little, "share": shares, "least_share": min(shares)},
        "spark": {
            "results": sums[0].rows,
            "unlimited": counts[0],
            "spilling": counts[1],
            "share": spark_shares,
            "least_share": min(spark_shares),
        },
    }
    lines = [(f"{10 * at} %", whole[at - 1], little[at - 1], shares[at - 1]) for at in range(1, TENTHS + 1)]
    return Report("Results out so far", ("input", "all the memory", "a quarter", "share"), lines, fields)


def _shares(little: Sequence[int], whole: Sequence[int]) -> list[float]:
    return [few / max(1, all_) for few, all_ in zip(little, whole, strict=True)]


def outputs_on_spark(rows: int, memory: dv.Tuples | None) -> tuple[list[int], Sum]:
    """The results that are out after each tenth of the input of a streaming query with two buckets, and all at last."""
    from dovetail.runtime.spark.session import spark_session

    session, random, found, sums = spark_session(2, name="spill_delay"), np.random.default_rng(3), [], [Sum()]
    with TemporaryDirectory(prefix="dovetail-") as folder:
        for name in "AB":
            (Path(folder) / name).mkdir()
        streams = [_stream(session, folder, name) for name in "AB"]
        budget = None if memory is None else dv.budget(memory=memory, policy="spill")
        query = dv.join(*streams, on="A.k = B.k", select="A.n AS a, B.n AS b", budget=budget, partitions=2)
        writing = query.spark().writeStream.foreachBatch(lambda some, _: sums.append(_sum(some)))
        running = writing.option("checkpointLocation", f"{folder}/checkpoint").start()
        since = perf_counter()
        for batch in range(SPARK_BATCHES):
            for name in "AB":
                hidden = Path(folder) / name / f".{batch:04}.parquet"
                pq.write_table(table(random, batch, rows), hidden)
                hidden.rename(hidden.with_name(hidden.name[1:]))
            running.processAllAvailable()
            if not batch:
                since = perf_counter()  # the first batch also starts the workers
            elif batch % BETWEEN == BETWEEN // 2:
                sleep((perf_counter() - since) / BETWEEN)
                since = perf_counter()
            if (batch + 1) % (SPARK_BATCHES // TENTHS) == 0:
                found.append(sum(each.rows for each in sums))
        running.stop()
        sums.append(_sum(query.finish(f"{folder}/checkpoint", session=session)))
    return found, sum(sums, Sum())


def _sum(rows: Any) -> Sum:
    return sum_of(rows.toArrow(), ("a", "b"))


def _stream(session: Any, folder: str, name: str) -> Any:
    frame = session.readStream.schema("ts timestamp_ntz, k bigint, n bigint").parquet(f"{folder}/{name}")
    return dv.stream(name, frame, time="ts", window=f"{WINDOW * BATCH_US} microseconds")


def outputs(rows: int, budget: Any) -> tuple[list[int], Sum]:
    """The results that are out after each tenth of the input, and all of them at the end."""
    streams = [dv.stream(name, time="ts", window=f"{WINDOW * BATCH_US} microseconds", schema=SCHEMA) for name in "AB"]
    query = dv.join(*streams, on="A.k = B.k", select="A.n AS a, B.n AS b", budget=budget)
    join, total, found = query.local(threads=1), Sum(), []
    random = np.random.default_rng(3)
    now = 0
    for batch in range(BATCHES):
        given = [join.push(name, table(random, batch, rows)) for name in "AB"]
        now += BATCH_US
        given.append(join.tick(now))
        if batch % BETWEEN == BETWEEN // 2:  # in the middle between two looks
            given += [join.tick(now + BATCH_US // 2), join.tick(now + BATCH_US)]
            now += BATCH_US
        total = sum((sum_of(some, some.schema.names) for some in given), total)
        if (batch + 1) % (BATCHES // TENTHS) == 0:
            found.append(total.rows)
    rest = join.close()
    return found, total + sum_of(rest, rest.schema.names)


def table(random: np.random.Generator, batch: int, rows: int) -> pa.Table:
    """A batch: its rows' keys have so many partners in a window, on average."""
    times = batch * BATCH_US + np.sort(random.integers(0, BATCH_US, rows))
    keys, numbers = random.integers(0, rows * WINDOW // PARTNERS, rows), np.arange(batch * rows, (batch + 1) * rows)
    return pa.table([pa.array(times).cast(pa.timestamp("us")), pa.array(keys), pa.array(numbers)], SCHEMA)
