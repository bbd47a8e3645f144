"""Each trade with the last quote of three venues: an as-of join of four streams.

    seconds   0    1    2    3    4    5    6    7
    North     100       101            102
    South          99             103
    West                     98
    trades                      T              U         T: 101, 99, 98       U: 102, 103, none (98 is too old)

A quote is good for three seconds. A trade comes out as soon as all venues have come past its time; one that a venue has
no quote for comes out all the same, with NULL.
"""

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 9, 30)
TRADE = pa.schema({"ts": pa.timestamp("us"), "sym": pa.string(), "name": pa.string()})
QUOTE = pa.schema({"ts": pa.timestamp("us"), "sym": pa.string(), "bid": pa.int64()})
VENUES = ("North", "South", "West")


def row(second: float, **values: Any) -> dict[str, Any]:
    return {"ts": START + timedelta(seconds=second), "sym": "ACME", **values}


good_for = dv.asof("backward", tolerance="3 seconds")
run = dv.join(
    dv.stream("T", schema=TRADE, time="ts"),
    *(dv.stream(venue, schema=QUOTE, time="ts", asof=good_for) for venue in VENUES),
    on=" AND ".join(f"T.sym = {venue}.sym" for venue in VENUES),
    select="T.name, North.bid AS north, South.bid AS south, West.bid AS west",
    how="left",
).local()

ARRIVALS: list[tuple[str, list[dict[str, Any]]]] = [
    ("North", [row(0, bid=100), row(2, bid=101)]),
    ("South", [row(1, bid=99)]),
    ("T", [row(3.6, name="T")]),
    ("West", [row(3, bid=98)]),
    ("South", [row(4, bid=103)]),
    ("North", [row(5, bid=102)]),
    ("West", [row(7, bid=97)]),
    ("T", [row(6.6, name="U")]),
    ("South", [row(8, bid=104)]),
    ("North", [row(9, bid=105)]),
]
for stream, rows in ARRIVALS:
    for found in run.push(stream, rows).to_pylist():
        print(f"after {stream}: {found['name']} {found['north']} {found['south']} {found['west']}")

# Prints:
# after West: T 101 99 98
# after North: U 102 103 None
