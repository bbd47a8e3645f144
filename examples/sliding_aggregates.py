"""How many different kinds of item two sensors agree on, over the last ten minutes: counted as results come and go."""

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 12)


def sensor(name: str, items: list[tuple[int, str]]) -> Any:
    times = [START + timedelta(minutes=minute) for minute, _ in items]
    return dv.stream(name, pa.table({"ItemType": [kind for _, kind in items], "ts": times}), time="ts")


query = dv.sql(
    """SELECT COUNT(DISTINCT S.ItemType) AS kinds, COUNT(*) AS pairs
    FROM SensorReadings1 S, SensorReadings2 T
    WHERE S.ItemType = T.ItemType
    WINDOW 10 minutes""",
    sensor("SensorReadings1", [(0, "box"), (1, "bag"), (2, "box")]),
    sensor("SensorReadings2", [(3, "box"), (4, "bag"), (8, "crate")]),
)
for row in query.collect().to_pylist():
    print((row["result_time"] - START).seconds // 60, "minutes:", row["kinds"], "kinds in", row["pairs"], "pairs")

# Prints:
# 3 minutes: 1 kinds in 2 pairs
# 4 minutes: 2 kinds in 3 pairs
# 10 minutes: 2 kinds in 2 pairs
# 11 minutes: 1 kinds in 1 pairs
# 12 minutes: 0 kinds in 0 pairs
