"""The example queries of the papers: hot and wet places, correlated sensors, kinds of item, news of three agencies."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 12)


def readings(name: str, places: list[int], values: list[float]) -> Any:
    times = [START + timedelta(seconds=20 * at) for at in range(len(places))]
    return dv.stream(name, pa.table({"LocationId": places, "Value": values, "ts": times}), time="ts")


def news(name: str, **items: list[float]) -> Any:
    times = [START + timedelta(minutes=at) for at in range(len(items))]
    return dv.stream(name, pa.table({"title": list(items), "words": list(items.values()), "ts": times}), time="ts")


def correlated(first: Any, second: Any) -> Any:
    return np.abs(np.asarray(first) * 2 - np.asarray(second)) < 1.5


dv.function("correlated", correlated, [pa.float64(), pa.float64()], pa.bool_())
temperature = readings("Temperature", [1, 2, 3], [41.0, 39.0, 45.0])
humidity = readings("Humidity", [1, 2, 3], [83.0, 90.0, 77.0])
seen = [dv.stream(f"SensorReadings{n}", pa.table({"ItemType": ["box"], "ts": [START]}), time="ts") for n in (1, 2)]
agencies = (
    news("CNN", storm=[0.9, 0.1, 0.4], football=[0.0, 1.0, 0.0]),
    news("Reuters", gale=[0.8, 0.0, 0.5], shares=[0.1, 0.1, 1.0]),
    news("BBC", cup=[0.0, 0.9, 0.1], hurricane=[1.0, 0.1, 0.3]),
)

hot_and_wet = """SELECT T.LocationId FROM Temperature T, Humidity H
    WHERE T.Value > 40 AND H.Value > 80 AND T.LocationId = H.LocationId WINDOW 1 min"""
similar = """SELECT T.LocationId AS t, H.LocationId AS h FROM Temperature T, Humidity H
    WHERE correlated(T.Value, H.Value) AND T.LocationId <> H.LocationId WINDOW 30 min"""
kinds = """SELECT COUNT(DISTINCT S.ItemType) FROM SensorReadings1 S, SensorReadings2 T
    WHERE S.ItemType = T.ItemType WINDOW 10 minutes"""
same_news = """SELECT CNN.title AS cnn, Reuters.title AS reuters, BBC.title AS bbc FROM CNN, Reuters, BBC
    WHERE INNER_PRODUCT(CNN.words, Reuters.words) >= 0.8 AND INNER_PRODUCT(CNN.words, BBC.words) >= 0.8
    WINDOW 2 HOURS"""

print(*dv.sql(hot_and_wet, temperature, humidity).collect()["LocationId"], *dv.sql(kinds, *seen).collect().columns[1])
for text, streams in ((similar, (temperature, humidity)), (same_news, agencies)):
    rows = dv.sql(text, *streams).collect().drop_columns("result_time").to_pylist()
    for row in sorted(tuple(row.values()) for row in rows):
        print(*row)

# Prints:
# 1 1 0
# 2 3
# 3 2
# storm gale hurricane
