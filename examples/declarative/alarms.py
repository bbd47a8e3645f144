"""Rooms that are warm and damp within a minute, as a streaming table of a declarative pipeline.

The join is made here and not inside the function: there Spark 4.1 answers no question, not even what columns a
DataFrame has (later versions do).
"""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

import dovetail as dv

spark = SparkSession.active()
folder = spark.conf.get("rooms.readings")


def readings(kind: str) -> DataFrame:
    """The files of one kind of sensor, as they come."""
    return spark.readStream.schema("ts timestamp, room string, value double").json(f"{folder}/{kind}")


temperature = dv.stream("T", readings("temperature"), time="ts", window="1 minute", delay="10 seconds")
humidity = dv.stream("H", readings("humidity"), time="ts", window="1 minute", delay="10 seconds")
warm_and_damp = dv.join(
    temperature,
    humidity,
    on="T.room = H.room AND T.value > 25 AND H.value > 70",
    select="T.room, T.value AS temperature, H.value AS humidity",
).spark()


@dp.table
def alarms() -> DataFrame:
    """What the join gives, appended with every update."""
    return warm_and_damp
