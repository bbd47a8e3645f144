"""What the demo has seen so far: micro-batches by their metrics, alarms by rack.

    two batches of 500,000 rows, the second ready 1.25 s after the first  ->  400,000 rows a second

The first batch also starts Python workers, so rates are taken from its end on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any, Self

import pyarrow as pa

RECENT = 3  # batches: the speed shown follows within seconds and does not jump with each


@dataclass(frozen=True)
class Batch:
    """One micro-batch: when it was ready, how long it took, what went in, came out, and is still stored."""

    number: int
    ready: float
    seconds: float
    rows: int
    alarms: int
    stored: int
    stored_bytes: int
    late: int

    @classmethod
    def of(cls, metrics: Mapping[str, Any]) -> Self:
        """From the metrics of a pipeline's batch."""
        seconds = metrics["duration_ms"]["triggerExecution"] / 1000
        engines = [stream for bucket in metrics["buckets"] for stream in bucket["engine"]["streams"].values()]
        return cls(
            number=metrics["batch"],
            ready=datetime.fromisoformat(metrics["timestamp"]).timestamp() + seconds,
            seconds=seconds,
            rows=sum(stream["rows"] for stream in metrics["streams"].values()),
            alarms=metrics["results"],
            stored=sum(stream["stored"] for stream in engines),
            stored_bytes=sum(stream["bytes"] for stream in engines),
            late=sum(stream["late"] for stream in engines),
        )


@dataclass(frozen=True)
class Rack:
    """The worst of one rack."""

    location: str
    alarms: int = 0
    temperature: float = 0.0
    humidity: float = 0.0


@dataclass(frozen=True)
class Pace:
    """Speed over some batches, and how long a reading took to become an alarm."""

    rows_per_second: float
    alarms_per_second: float
    lag: float


@dataclass
class Tally:
    """Everything seen since the start."""

    batches: list[Batch] = field(default_factory=list)
    racks: dict[str, Rack] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """Number of the newest batch; -1 before the first."""
        return self.batches[-1].number if self.batches else -1

    def add(self, batch: Batch) -> None:
        self.batches.append(batch)

    def add_alarms(self, alarms: pa.Table) -> None:
        """Count alarms by rack."""
        worst = [("temperature", "max"), ("humidity", "max"), ("temperature", "count")]
        for found in alarms.group_by("location").aggregate(worst).to_pylist():
            known = self.racks.get(found["location"], Rack(found["location"]))
            self.racks[known.location] = Rack(
                known.location,
                known.alarms + found["temperature_count"],
                max(known.temperature, found["temperature_max"]),
                max(known.humidity, found["humidity_max"]),
            )

    @property
    def rows(self) -> int:
        return sum(batch.rows for batch in self.batches)

    @property
    def alarms(self) -> int:
        return sum(rack.alarms for rack in self.racks.values())

    def now(self) -> Pace:
        """Speed of the last few batches, the first left out once there are others."""
        recent = (self.batches[1:] or self.batches)[-RECENT:]
        return _pace(recent, sum(batch.seconds for batch in recent))

    def overall(self) -> Pace:
        """Speed after the first batch, by the clock; of the first if there is no other."""
        later = self.batches[1:]
        return _pace(later, later[-1].ready - self.batches[0].ready) if later else self.now()

    def batch_seconds(self) -> tuple[float, float]:
        """Median and largest duration of the batches after the first."""
        seconds = [batch.seconds for batch in self.batches[1:] or self.batches]
        return median(seconds), max(seconds)

    def hottest(self, count: int) -> list[Rack]:
        return sorted(self.racks.values(), key=lambda rack: (-rack.temperature, rack.location))[:count]


def _pace(batches: Sequence[Batch], seconds: float) -> Pace:
    def per_second(numbers: Iterable[int]) -> float:
        return sum(numbers) / max(seconds, 1e-3)

    lag = sum(batch.seconds for batch in batches) / len(batches)
    return Pace(per_second(batch.rows for batch in batches), per_second(batch.alarms for batch in batches), lag)
