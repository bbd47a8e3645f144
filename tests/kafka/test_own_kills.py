"""Topics in and a topic out, by Dovetail itself, killed at any point: readers see each result once.

Rows are counted as they are: a result that came twice would be found. Topics of rows have two partitions, that of
results has one, so that its order can be told. Rows that let everything come out are sent when all others were read.
"""

import random
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from dovetail.runtime.kafka.producer import json_values
from dovetail.testing import Push
from tests.kafka.test_own_topics import COLUMNS, rows_in
from tests.recovery.kill.job import topic_of
from tests.recovery.kill.running import LOCAL, Job, kill_all, wait_for_a_batch

pytestmark = pytest.mark.kafka
DELAY = "20 seconds"  # longer than all that is sent at first: whatever partition a row is in, it is not late


class TopicJob(Job):
    """A pipeline over topics."""

    def __init__(self, path: Path, address: str, options: dict[str, Any], seed: int) -> None:
        self._address = address
        super().__init__(path, LOCAL, {"own": address, "delay": DELAY, **options}, seed)

    def feed(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._address})
        counts = {**dict.fromkeys(self.names, 2), "out": 1}
        made = admin.create_topics([NewTopic(topic_of(self.path, name), count) for name, count in counts.items()])
        for each in made.values():
            each.result(30)
        self._send(self.batches[:-1])

    def _send(self, batches: list[Push]) -> None:
        producer = Producer({"bootstrap.servers": self._address})
        for batch in batches:
            for name, rows in batch.batch.items():
                for at, value in enumerate(json_values(pa.table(rows).select(COLUMNS))):
                    producer.produce(topic_of(self.path, name), value, str(at))
        assert producer.flush(60) == 0

    def finish(self) -> None:
        super().finish()
        if "how" in self.options or "order" in self.options:  # else nothing waits
            self._send(self.batches[-1:])
            super().finish()

    def committed(self, schema: pa.Schema) -> pa.Table:
        if self.options.get("filed"):
            return super().committed(schema)
        return rows_in(self._address, topic_of(self.path, "out"), schema)


@pytest.mark.parametrize(
    ("kill_at", "options"),
    [
        ("read:3", {}),
        ("join:5", {"how": "full"}),
        ("saved:5", {"how": "left", "order": "hold"}),
        ("aside:4", {}),
        ("commit:2", {}),
        ("sent:2", {"how": "left"}),
        ("committed:2", {"order": "hold"}),
        ("read:3", {"filed": True, "how": "left"}),
        ("committed:2", {"filed": True}),
    ],
)
def test_the_driver_killed_at_a_point_of_its_work(
    address: str, tmp_path: Path, kill_at: str, options: dict[str, Any]
) -> None:
    job = TopicJob(tmp_path, address, options, seed=len(kill_at))
    job.die_at(kill_at)
    job.finish()
    job.check()


def test_the_driver_killed_at_moments_of_chance(address: str, tmp_path: Path) -> None:
    job, chance = TopicJob(tmp_path, address, {"how": "left"}, seed=5), random.Random(5)
    for _ in range(2):
        process = job.start()
        wait_for_a_batch(process, tmp_path)
        time.sleep(chance.random() * 2)
        if process.poll() is None:
            kill_all(process)
    job.finish()
    job.check()
