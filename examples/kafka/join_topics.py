"""Three topics joined on Spark into a fourth: python -m examples.kafka.join_topics ADDRESS FOLDER [TOPIC].

It takes what the topics hold now and ends; started again with the same folder it goes on where it was. Killed at any
moment, it goes on with the batch that was under way, which gives the same rows once more.
"""

import os
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import dovetail as dv
from examples.kafka.broker import JARS

SCHEMA = "order_id long, ts timestamp, amount double"
PER_BATCH = 150


def session() -> SparkSession:
    """Spark with its Kafka connector; elsewhere say spark.jars.packages instead of spark.jars."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    jars = ",".join(map(str, (JARS / "kafka-connector").glob("*.jar")))
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", False)
    return builder.config("spark.sql.shuffle.partitions", 2).config("spark.sql.session.timeZone", "UTC").getOrCreate()


def topic(spark: SparkSession, address: str, name: str) -> DataFrame:
    """A topic of JSON as a streaming DataFrame, from its beginning."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", address).option("subscribe", name)
    raw = reader.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", PER_BATCH).load()
    return raw.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("row")).select("row.*")


def settled(orders: object, payments: object, shipments: object) -> dv.Query:
    """Orders that were paid and shipped within 20 seconds; rows may come up to 10 seconds out of order."""
    inputs = {"O": orders, "P": payments, "S": shipments}
    streams = [dv.stream(name, data, time="ts", delay="10 seconds") for name, data in inputs.items()]
    on = "O.order_id = P.order_id AND P.order_id = S.order_id AND P.amount >= O.amount"
    select = "O.order_id, O.ts AS ordered, P.ts AS paid, S.ts AS shipped"
    return dv.join(*streams, on=on, select=select, window="20 seconds")


def main(address: str, folder: str, output: str = "settled") -> None:
    """The members' times name a result, so they are its key: who reads a result twice can tell."""
    spark = session()
    query = settled(*(topic(spark, address, name) for name in ("orders", "payments", "shipments")))
    named = "to_json(struct(order_id, ordered, paid, shipped)) AS key"
    results = query.spark().selectExpr(named, "to_json(struct(*)) AS value")
    writer = results.writeStream.format("kafka").option("kafka.bootstrap.servers", address).option("topic", output)
    writer.option("checkpointLocation", folder).trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
