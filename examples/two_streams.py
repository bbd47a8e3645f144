"""Two sensors, one window: where it was hot and wet within the same minute."""

from datetime import datetime, timedelta

import pyarrow as pa

import dovetail as dv

NOON = datetime(2026, 7, 1, 12)


def reading(second: int, location: str, value: float) -> dict[str, object]:
    return {"ts": NOON + timedelta(seconds=second), "location": location, "value": value}


schema = pa.schema([("ts", pa.timestamp("us")), ("location", pa.string()), ("value", pa.float64())])
temperature = dv.stream("T", schema=schema, time="ts", window="1 minute", delay="5 seconds")
humidity = dv.stream("H", schema=schema, time="ts", window="1 minute", delay="5 seconds")
hot_and_wet = dv.join(
    temperature,
    humidity,
    on="T.location = H.location AND T.value > 40 AND H.value > 80",
    select="T.location, T.value AS temperature, H.value AS humidity",
)

run = hot_and_wet.local()
batches = [
    ("T", [reading(0, "attic", 43.0), reading(10, "cellar", 14.0)]),
    ("H", [reading(30, "attic", 91.0), reading(30, "cellar", 95.0)]),
    ("H", [reading(61, "attic", 92.0)]),
    ("T", [reading(90, "attic", 41.0)]),
]
for stream, rows in batches:
    for row in sorted(run.push(stream, rows).to_pylist(), key=lambda row: float(row["humidity"])):
        print(row["result_time"].time(), row["location"], row["temperature"], row["humidity"])

# Prints:
# 12:00:30 attic 43.0 91.0
# 12:01:30 attic 41.0 91.0
# 12:01:30 attic 41.0 92.0
