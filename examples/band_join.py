"""A band join: trades of two venues whose prices are within five cents of each other, at most ten seconds apart."""

from datetime import datetime, timedelta

import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 9, 30)


def trades(seconds: list[int], prices: list[float]) -> pa.Table:
    return pa.table({"ts": [START + timedelta(seconds=second) for second in seconds], "price": prices})


here = dv.stream("A", trades([0, 2, 4, 30], [10.00, 10.10, 10.20, 10.12]), time="ts")
there = dv.stream("B", trades([1, 3, 8, 15], [10.04, 10.30, 10.16, 10.21]), time="ts")
close_prices = dv.join(
    here,
    there,
    on="ABS(A.price - B.price) <= 0.05",
    select="A.price AS here, B.price AS there",
    window="10 seconds",
)
for row in close_prices.collect().to_pylist():
    print(row["result_time"].time(), row["here"], row["there"])

# Prints:
# 09:30:01 10.0 10.04
# 09:30:08 10.2 10.16
