"""Orders, payments and shipments, each looking back its own time; finite tables, run to the end with collect()."""

from datetime import datetime, timedelta

import pyarrow as pa

import dovetail as dv

NOON = datetime(2026, 7, 1, 12)


def table(minutes: list[int], orders: list[int]) -> pa.Table:
    return pa.table({"ts": [NOON + timedelta(minutes=minute) for minute in minutes], "order_id": orders})


# An order waits two hours for the rest, a payment one hour, a shipment nothing: it has to be the last.
orders = dv.stream("O", table([0, 5, 10], [1, 2, 3]), time="ts", window="2 hours")
payments = dv.stream("P", table([30, 50, 110], [1, 2, 3]), time="ts", window="1 hour")
shipments = dv.stream("S", table([60, 120, 130], [1, 2, 3]), time="ts", window="0 seconds")

shipped = dv.join(
    orders,
    payments,
    shipments,
    on="O.order_id = P.order_id AND P.order_id = S.order_id",
    select="O.order_id, O.ts AS ordered, P.ts AS paid",
)
for row in shipped.collect().to_pylist():
    print(row["order_id"], row["ordered"].time(), row["paid"].time(), row["result_time"].time())

# Prints:
# 1 12:00:00 12:30:00 13:00:00
# 3 12:10:00 13:50:00 14:10:00
