import random
from collections import Counter
from typing import Any

import pytest

from dovetail.runtime.spark.bucket_numbers import bucket_numbers, murmur3_int


@pytest.mark.parametrize("buckets", [1, 2, 3, 8, 200])
def test_every_partition_gets_one_bucket(buckets: int) -> None:
    numbers = bucket_numbers(buckets, buckets)
    assert sorted(murmur3_int(number) % buckets for number in numbers) == list(range(buckets))
    assert numbers[0] == 0


@pytest.mark.parametrize(("buckets", "partitions"), [(5, 2), (8, 3), (4, 7)])
def test_other_counts_are_spread_as_evenly_as_they_go(buckets: int, partitions: int) -> None:
    numbers = bucket_numbers(buckets, partitions)
    shares = Counter(murmur3_int(number) % partitions for number in numbers)
    assert len(set(numbers)) == buckets
    assert max(shares.values()) == -(-buckets // partitions)


def test_the_hash_is_sparks_own(spark: Any) -> None:
    values = [0, 1, -1, 2**31 - 1, -(2**31), *(random.Random(4).randrange(-(2**31), 2**31) for _ in range(200))]
    frame = spark.createDataFrame([(value,) for value in values], "bucket int").selectExpr(
        "bucket", "hash(bucket) AS h"
    )
    assert {row.bucket: row.h for row in frame.collect()} == {value: murmur3_int(value) for value in values}


def test_spark_gives_every_task_one_bucket(spark: Any) -> None:
    numbers = bucket_numbers(8, 8)
    frame = spark.createDataFrame([(number,) for number in numbers], "bucket int").repartition(8, "bucket")
    tasks = frame.selectExpr("spark_partition_id() AS task", "bucket").collect()
    assert sorted(row.bucket for row in tasks) == sorted(numbers)
    assert sorted(row.task for row in tasks) == list(range(8))
