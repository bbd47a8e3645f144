"""The same as-of join on Spark, beside one that is written by hand with a stateful processor, as one does today.

By hand: both streams as one, grouped by key; a processor keeps quotes and trades of its key in lists, and when Spark's
watermark has passed a trade pandas' ``merge_asof`` answers it. Both read the same files and write Parquet; rows are
equal or no speed is shown. Dovetail reads and writes files itself; ``dataframes`` has Spark do it. Speed is that of the
second half of the batches, once a pipeline has run for ``WARM_S`` seconds: a faster one runs again until then.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

import dovetail as dv
from benchmarks.files import write
from dovetail.runtime.spark.metrics import batch_metrics
from dovetail.runtime.spark.session import spark_session

CORES, FILES = 2, 2
WARM_S = 40
START = 1_700_000_000_000_000
DAY = 86_400_000_000
SCHEMA = pa.schema({"ts": pa.timestamp("us", "UTC"), "k": pa.int64(), "v": pa.int64()})
STATE = "ts timestamp, v bigint"
RESULT = "k bigint, o bigint, p bigint"


class ByHand(StatefulProcessor):
    """Quotes and trades of one key; trades are answered once the watermark has passed them."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._quotes, self._trades = (handle.getListState(name, STATE) for name in ("quotes", "trades"))

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """New rows of the key, and answers to what is certain."""
        for frame in rows:
            for side, state in ((0, self._quotes), (1, self._trades)):
                new = frame[frame["side"] == side]
                if len(new):
                    state.appendList(list(zip(new["ts"], new["v"].tolist(), strict=True)))
        yield from self._answer(key, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Time has passed a trade that waits."""
        yield from self._answer(key, timerValues)

    def _answer(self, key: Any, timer: Any) -> Iterator[pd.DataFrame]:
        until = pd.Timestamp(max(timer.getCurrentWatermarkInMs(), 0), unit="ms")
        trades = pd.DataFrame(list(self._trades.get()), columns=["ts", "o"])
        due = trades[trades["ts"] < until] if len(trades) else trades
        if len(due):
            quotes = pd.DataFrame(list(self._quotes.get()), columns=["ts", "p"]).sort_values("ts")
            if len(quotes):
                found = pd.merge_asof(due.sort_values("ts"), quotes, on="ts").dropna()
                yield pd.DataFrame({"k": key[0], "o": found["o"], "p": found["p"].astype("int64")})
                last = quotes["ts"].searchsorted(until) - 1
                kept = quotes.iloc[max(last, 0) :]
                self._quotes.put(list(zip(kept["ts"], kept["p"].tolist(), strict=True)))
            trades = trades[trades["ts"] >= until]
            if len(trades):
                self._trades.put(list(zip(trades["ts"], trades["o"].tolist(), strict=True)))
            else:
                self._trades.clear()
        if len(trades):
            self._handle.registerTimer(int(trades["ts"].min().timestamp() * 1000) + 1)

    def close(self) -> None:
        """Nothing to give back."""


def beside(rows: int, keys: int, batch: int, warm_s: float) -> dict[str, Any]:
    """Rows per second of both over the same files, and whether their rows are equal."""
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as made:
        folder = Path(made)
        for place, name in enumerate("PO"):
            write(folder / name, list(_pieces(rows, keys, place, batch // 2 // FILES)))
        session = spark_session(CORES, name="asof")
        session.conf.set("spark.sql.streaming.numRecentProgressUpdates", "10000")
        found = {name: _warm(session, folder, name, warm_s) for name in ("dovetail", "dataframes", "by_hand")}
        session.stop()
    speeds = {name: speed for name, (speed, _) in found.items()}
    results = [table for _, table in found.values()]
    return {
        "rows": 2 * rows,
        "keys": keys,
        "batch_rows": batch,
        "results": results[0].num_rows,
        "results_equal": results[0].num_rows > 0 and all(table.equals(results[0]) for table in results),
        **{f"{name}_rows_per_s": round(speed) for name, speed in speeds.items()},
        "vs_by_hand": round(speeds["dovetail"] / speeds["by_hand"], 3),
        "dataframes_vs_by_hand": round(speeds["dataframes"] / speeds["by_hand"], 3),
    }


def _pieces(rows: int, keys: int, place: int, size: int) -> Iterator[pa.Table]:
    """Rows in order of time, and two batches at the end that let the others come out."""
    random = np.random.default_rng(place)
    numbers = np.arange(rows)
    times, names = START + numbers * 100 + place * 50, random.integers(0, keys, rows)
    for at in range(0, rows, size):
        yield _table(times[at : at + size], names[at : at + size], numbers[at : at + size])
    for number in range(2 * FILES):
        yield _table(np.array([START + DAY + number]), np.array([-1 - place]), np.array([-1]))


def _table(times: Any, keys: Any, values: Any) -> pa.Table:
    return pa.table([pa.array(times).cast(SCHEMA.field("ts").type), pa.array(keys), pa.array(values)], schema=SCHEMA)


def _warm(session: SparkSession, folder: Path, name: str, warm_s: float) -> tuple[float, pa.Table]:
    began = time.monotonic()
    found = _run(session, folder, name)
    while time.monotonic() - began < warm_s:
        found = _run(session, folder, name)
    return found


def _run(session: SparkSession, folder: Path, name: str) -> tuple[float, pa.Table]:
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as out:
        query = _started(session, folder, name, f"{out}/rows", f"{out}/checkpoint")
        query.awaitTermination()
        batches = [batch for each in query.recentProgress if (batch := _batch(each))[0] > FILES * 4]
        steady = batches[len(batches) // 2 :]
        table = pq.read_table(f"{out}/rows").select(["o", "p"]).sort_by([("o", "ascending"), ("p", "ascending")])
    return sum(rows for rows, _ in steady) / sum(seconds for _, seconds in steady), table.combine_chunks()


def _batch(progress: Any) -> tuple[int, float]:
    """Rows and seconds; of what Dovetail reads itself, Spark counts packed pieces, and Dovetail the rows."""
    own = batch_metrics(progress)
    rows = sum(stream["rows"] for stream in own["streams"].values()) if own else progress.numInputRows
    return rows, progress.durationMs.get("triggerExecution", 0) / 1000


def _started(session: SparkSession, folder: Path, name: str, out: str, checkpoint: str) -> StreamingQuery:
    if name == "dovetail":
        query = _asof({side: dv.files(folder / side, max_files=FILES) for side in "PO"}, schema=SCHEMA)
        return query.write(dv.parquet(out), checkpoint, trigger={"availableNow": True}, session=session)  # type: ignore[no-any-return]
    read = session.readStream.schema("ts timestamp, k bigint, v bigint").option("maxFilesPerTrigger", FILES)
    frames = {side: read.parquet(str(folder / side)) for side in "PO"}
    rows = _asof(frames).spark() if name == "dataframes" else _by_hand(frames)
    writer = rows.writeStream.format("parquet").option("checkpointLocation", checkpoint)
    return writer.option("path", out).trigger(availableNow=True).start()


def _asof(data: dict[str, Any], **given: Any) -> dv.Query:
    prices = dv.stream("P", data["P"], time="ts", asof=dv.asof(), **given)
    orders = dv.stream("O", data["O"], time="ts", **given)
    return dv.join(orders, prices, on="P.k = O.k", select="O.v AS o, P.v AS p")


def _by_hand(frames: dict[str, DataFrame]) -> DataFrame:
    sides = [frames[name].withColumn("side", functions.lit(place)) for place, name in enumerate("PO")]
    both = sides[0].union(sides[1]).withWatermark("ts", "0 seconds")
    return both.groupBy("k").transformWithStateInPandas(ByHand(), RESULT, "append", "eventTime")
