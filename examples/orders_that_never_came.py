"""Orders with their payments and shipments, while they run: what never came is NULL, as soon as that is certain.

An order is paid within an hour and shipped within a day after it was made. Order 1 is, order 2 is paid and never
shipped, order 3 is not even paid. Each comes out once: order 1 when its shipment has come, the others a day later.
Three streams, two left joins, one operator; the conditions on times are its windows.
"""

from datetime import datetime, timedelta

import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1)
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "id": pa.int64()})


def at(*events: tuple[float, int]) -> pa.Table:
    """Events as hours and numbers of orders."""
    return pa.Table.from_pylist([{"ts": START + timedelta(hours=hour), "id": id} for hour, id in events], SCHEMA)


run = dv.sql(
    """
    SELECT O.id, P.ts IS NULL AS unpaid, S.ts IS NULL AS unshipped
    FROM O
    LEFT JOIN P ON O.id = P.id AND P.ts BETWEEN O.ts AND O.ts + INTERVAL '1' HOUR
    LEFT JOIN S ON O.id = S.id AND S.ts BETWEEN O.ts AND O.ts + INTERVAL '1' DAY
    """,
    *(dv.stream(name, schema=SCHEMA, time="ts") for name in "OPS"),
).local()

for stream, rows in [
    ("O", at((0, 1), (1, 2), (2, 3))),
    ("P", at((0.5, 1), (1.2, 2))),
    ("S", at((9, 1))),
    ("P", at((24, 9))),
    ("S", at((24, 8))),
    ("S", at((30, 7))),
    ("P", at((30, 7))),
]:
    for row in run.push(stream, rows).to_pylist():
        said = "unshipped" if row["unshipped"] else "shipped"
        print(f"{row['result_time']}: order {row['id']} {'unpaid' if row['unpaid'] else 'paid'}, {said}")

# Prints:
# 2026-07-01 09:00:00: order 1 paid, shipped
# 2026-07-02 01:00:00: order 2 paid, unshipped
# 2026-07-02 02:00:00: order 3 unpaid, unshipped
