"""Late rows that are kept, in a query whose results have gone further than those of the queries it shares with."""

import pyarrow as pa

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def test_a_late_result_does_not_follow_a_later_one_of_its_query() -> None:
    def joined(name: str, b_window: int, order: str) -> dv.Query:
        widths = {"A": 5, "B": b_window}
        streams = [dv.stream(s, time="ts", window=f"{w} microseconds", schema=SCHEMA) for s, w in widths.items()]
        return dv.join(*streams, on="A.k = B.k", late="keep", order=order).named(name)

    run = dv.share(joined("wide", 5, "none"), joined("narrow", 1, "sync"), schedule="greedy").local()
    pushes = [("B", 21), ("A", 22), ("B", 23), ("A", 20)]
    parts = [run.push(name, [{"ts": time, "k": 0}]) for name, time in pushes] + [run.close()]
    rows = [row for part in parts for row in part.to_pylist() if row["query"] == "narrow"]
    times = [row["result_time"] for row in rows]
    assert times
    assert times == sorted(times)
