"""Being called when nothing comes: timers of processing time, for streams that may fall silent.

    A at 10:00, B silent, idle="5 seconds"     the batch of 10:00 sets a timer for 10:05
    10:05, no data                             Spark runs a batch all the same; B's watermark follows A's

Timers cost empty batches, so they are set only while a stream is behind another and so could be raised, or while
rows wait for CPU time.
"""

from typing import Literal

from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, TimerValues

from dovetail.engine.engine import Engine
from dovetail.model.query import JoinQuery

_SOON_MS = 500

TimeMode = Literal["None", "ProcessingTime"]


def time_mode(query: JoinQuery) -> TimeMode:
    """What Spark must be told for timers to be possible."""
    return "ProcessingTime" if needs_clock(query) else "None"


def needs_clock(query: JoinQuery) -> bool:
    """Whether anything depends on processing time: streams that may fall silent, a CPU budget."""
    return _shortest_idle_us(query) is not None or (query.budget is not None and query.budget.cpu is not None)


def _shortest_idle_us(query: JoinQuery) -> int | None:
    return min((stream.idle_us for stream in query.streams if stream.idle_us is not None), default=None)


class Alarm:
    """At most one timer ahead for the bucket that Spark is calling for; ``ended`` streams cannot fall silent."""

    def __init__(self, handle: StatefulProcessorHandle, query: JoinQuery, ended: tuple[str, ...]) -> None:
        self._handle = handle
        self._ended = ended
        self._idle_us = _shortest_idle_us(query)

    @property
    def needed(self) -> bool:
        """Whether any stream may fall silent."""
        return self._idle_us is not None

    def set(self, engine: Engine, timers: TimerValues) -> None:
        """Ask to be called once the first stream may have been silent for too long, or there is time to go on."""
        if engine.shedding is not None and engine.waiting:
            self._ring(timers, _SOON_MS)
        elif self._idle_us is not None and self._uneven(engine):
            self._ring(timers, self._idle_us // 1000 + 1)

    def _ring(self, timers: TimerValues, later_ms: int) -> None:
        now = timers.getCurrentProcessingTimeInMs()
        if not [timer for timer in self._handle.listTimers() if timer > now]:
            self._handle.registerTimer(now + later_ms)

    def _uneven(self, engine: Engine) -> bool:
        streams = engine.metrics()["streams"]
        return len({own["watermark"] for name, own in streams.items() if name not in self._ended}) > 1
