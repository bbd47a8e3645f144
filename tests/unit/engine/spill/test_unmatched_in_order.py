"""Rows that were flushed before they could come out on their own hold back what is newer than they are."""

import pyarrow as pa

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def test_an_unmatched_row_flushed_before_its_time_still_comes_first() -> None:
    a, b = (dv.stream(name, time="ts", window="5 microseconds", delay="0 seconds", schema=SCHEMA) for name in "AB")
    budget = dv.budget(memory=dv.tuples(4), policy="spill")
    run = dv.join(a, b, on="A.k = B.k", select="A.ts AS a", how="left", order="sync", budget=budget).local()
    came = [run.push(name, [{"ts": at, "k": key}]) for name, at, key in (("A", 17, 0), ("B", 22, 1), ("B", 23, 0))]
    came += [run.push("A", [{"ts": at, "k": 0}]) for at in (20, 21, 21)]
    came += [run.advance("A", 24), run.close()]
    times = pa.concat_tables(came)["result_time"].cast(pa.int64()).to_pylist()
    assert times == [22, 23, 23, 23]
