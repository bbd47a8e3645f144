"""A batch of results into a topic, as one transaction.

    task      rows in a Parquet file aside, in the checkpoint
    commit    one producer writes the rows of all files, and with them, in the same transaction, the number of the batch
              as the position of a consumer group; then the files are removed

A batch that is repeated finds its number there and writes nothing. Who reads the topic with ``read_committed`` sees
every result once. The producer's name is that of the query, so another driver that still lives after a restart is shut
out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dovetail.errors import DataError
from dovetail.model.kafka import Kafka
from dovetail.runtime.kafka.producer import Producing
from dovetail.runtime.spark.sink.parquet import ParquetFolder, Written


@dataclass(frozen=True)
class KafkaTopic:
    """What is done to one topic; a value that travels to the tasks. ``aside`` is where tasks leave their rows."""

    sink: Kafka
    aside: ParquetFolder

    def write(self, batches: Iterable[pa.RecordBatch], task: int, query: str) -> Written | None:
        """The rows of one task, if there are any, in a file for the commit."""
        return self.aside.write(batches, task, query)

    def commit(self, written: Sequence[Written], batch: int) -> None:
        """Have all rows of a batch in the topic, unless they are there already."""
        if not written:
            return
        producing = Producing(self.sink, f"dovetail-{written[0].query}")
        try:
            if producing.done() < batch + 1:
                in_order = sorted(written, key=lambda each: each.task)
                producing.send((rows for each in in_order for rows in self.aside.read(each)), batch + 1)
        except producing.failures as error:
            raise DataError(f"topic {self.sink.topic!r} at {self.sink.servers}: {error}") from error
        self.aside.abort(written)

    def abort(self, written: Sequence[Written]) -> None:
        """Remove what was written in vain."""
        self.aside.abort(written)

    def tidy(self) -> None:
        """Remove what killed tasks have left behind; before a query starts."""
        self.aside.tidy()
