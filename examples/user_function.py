"""A function of your own in the condition: couriers within a kilometre of a parcel that has just become ready."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 9)


def kilometres(lat: Any, lon: Any, other_lat: Any, other_lon: Any) -> Any:
    """Great-circle distance, over whole columns at once."""
    phi, theta = np.radians(lat), np.radians(other_lat)
    half = np.radians(np.asarray(other_lon) - np.asarray(lon)) / 2
    squared = np.sin((theta - phi) / 2) ** 2 + np.cos(phi) * np.cos(theta) * np.sin(half) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(squared))


def places(names: list[str], lats: list[float], lons: list[float]) -> pa.Table:
    times = [START + timedelta(minutes=minute) for minute in range(len(names))]
    return pa.table({"ts": times, "name": names, "lat": lats, "lon": lons})


dv.function("kilometres", kilometres, arguments=[pa.float64()] * 4, result=pa.float64())
couriers = dv.stream("C", places(["Ada", "Bob"], [48.210, 48.300], [16.370, 16.400]), time="ts", window="5 minutes")
parcels = dv.stream("P", places(["#1", "#2"], [48.208, 48.204], [16.372, 16.369]), time="ts", window="5 minutes")
near = dv.join(
    couriers,
    parcels,
    on="kilometres(C.lat, C.lon, P.lat, P.lon) <= 1",
    select="C.name AS courier, P.name AS parcel",
)
for row in near.collect().to_pylist():
    print(row["courier"], row["parcel"])

# Prints:
# Ada #1
# Ada #2
