"""Each impression with its first click and its first conversion within 30 minutes, or none.

    minutes       0    10    20    30    40    50
    impressions   1     2
    clicks             1  1             2               1: the first of two       2: at 40, exactly 30 minutes later
    conversions              1                2         1: at 20                  2: at 46, too late

An impression comes out once both are certain: when they have come, or 30 minutes later.
"""

from datetime import datetime, timedelta

import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 12)
EVENT = pa.schema({"ts": pa.timestamp("us"), "ad": pa.int64()})


def at(*events: tuple[int, int]) -> pa.Table:
    """Events as minutes and numbers of impressions."""
    return pa.Table.from_pylist([{"ts": START + timedelta(minutes=minute), "ad": ad} for minute, ad in events], EVENT)


query = dv.join(
    dv.stream("I", at((0, 1), (10, 2)), time="ts", window="30 minutes"),
    dv.stream("C", at((9, 1), (12, 1), (40, 2)), time="ts", window="0 seconds", match="first"),
    dv.stream("B", at((20, 1), (46, 2)), time="ts", window="0 seconds", match="first"),
    on="I.ad = C.ad AND I.ad = B.ad",
    select="I.ad, C.ts AS clicked, B.ts AS bought",
    how="left",
    order="hold",
)
for row in query.collect().to_pylist():
    moments = [moment and f"{moment:%H:%M}" for moment in (row["result_time"], row["clicked"], row["bought"])]
    print(f"impression {row['ad']}, certain at {moments[0]}: clicked {moments[1]}, bought {moments[2]}")

# Prints:
# impression 1, certain at 12:20: clicked 12:09, bought 12:20
# impression 2, certain at 12:40: clicked 12:40, bought None
