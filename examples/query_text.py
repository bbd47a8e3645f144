"""A whole query as text: orders that were paid within ten minutes, and those that were not."""

from datetime import datetime, timedelta

import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 9)


def table(minutes: list[int], numbers: list[int], amounts: list[float]) -> pa.Table:
    times = [START + timedelta(minutes=minute) for minute in minutes]
    return pa.table({"ts": times, "number": numbers, "amount": amounts})


orders = dv.stream("Orders", table([0, 1, 2], [1, 2, 3], [20.0, 35.0, 8.0]), time="ts")
payments = dv.stream("Payments", table([3, 12, 15], [1, 3, 2], [20.0, 8.0, 35.0]), time="ts")

paid = dv.sql(
    """
    SELECT O.number, P.ts - O.ts AS after
    FROM Orders O, Payments P
    WHERE O.number = P.number AND O.amount = P.amount AND O.ts <= P.ts
    WINDOW 10 MINUTES
    """,
    orders,
    payments,
)
unpaid = dv.sql(
    "SELECT O.number FROM Orders O LEFT ANTI JOIN Payments P ON O.number = P.number WINDOW 10 MINUTES", orders, payments
)
for row in paid.collect().sort_by("number").to_pylist():
    print(f"order {row['number']} was paid after {row['after']}")
print("not paid in time:", sorted(unpaid.collect()["number"].to_pylist()))

# Prints:
# order 1 was paid after 0:03:00
# order 3 was paid after 0:10:00
# not paid in time: [2]
