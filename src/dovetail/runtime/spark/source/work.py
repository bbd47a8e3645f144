"""What a source must know, as options that Spark carries to its processes.

The driver's processes only plan batches, and need neither the engine nor its kernels; so what only tasks need is packed
by itself, and unpacked once per worker.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import cloudpickle

from dovetail.model.files import Files
from dovetail.model.sources import Source
from dovetail.runtime.spark.source.feed import Feed

if TYPE_CHECKING:
    from dovetail.runtime.spark.layout import Layouts
    from dovetail.runtime.spark.pack import Packer

INPUTS, PACKERS, TASKS, SPLITS = "inputs", "packers", "tasks", "splits"


@dataclass(frozen=True)
class Input:
    """A stream that is read here: where from, what its rows look like, and which columns are wanted.

    ``window_us``: the length of its window, if rows that can have no partner need not be read.
    """

    name: str
    source: Source
    schema: pa.Schema
    columns: tuple[str, ...]
    time: str
    delay_us: int
    window_us: int | None = None

    def feed(self) -> Feed:
        """What there is to read of it."""
        if isinstance(self.source, Files):
            from dovetail.runtime.files.feed import FilesFeed

            return FilesFeed(self.source, self.time, self.delay_us)
        from dovetail.runtime.kafka.feed import KafkaFeed

        return KafkaFeed(self.source)


def options_of(
    inputs: tuple[Input, ...], packers: Mapping[str, "Packer"], layouts: "Layouts", tasks: int, splits: bool
) -> dict[str, str]:
    """The options of a source that reads these streams, in at most so many tasks at once, and may split hot keys."""
    packed = _text((dict(packers), layouts))
    return {INPUTS: _text(inputs), PACKERS: packed, TASKS: str(tasks), SPLITS: str(int(splits))}


@lru_cache(maxsize=16)
def unpacked(text: str) -> Any:
    """What was packed into an option; once per process."""
    return cloudpickle.loads(b64decode(text))


def _text(value: object) -> str:
    packed: bytes = cloudpickle.dumps(value)  # type: ignore[no-untyped-call]
    return b64encode(packed).decode()
