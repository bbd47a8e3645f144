"""Which messages of a topic are new since a position, and what of them is the next batch.

A position is plain JSON, the next offset of every partition, and where the batch that it ends began, so that a batch
that is repeated has the same messages, also the first one, before which no position is noted. Partitions that are
added begin at their first message.

    {"0": 120, "1": 98, "from": {"0": 100, "1": 98}}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.errors import DataError
from dovetail.model.kafka import Kafka
from dovetail.runtime.kafka.client import Topic

_BYTES = 200  # of a message, about: only to deal them out
_FROM = "from"  # in a position, beside the partitions, which are numbers

Position = Mapping[str, Any]


@dataclass(frozen=True)
class Messages:
    """Work that is not divided further: neighbouring messages of a partition."""

    partition: int
    first: int
    last: int

    @property
    def bytes(self) -> int:
        return (self.last - self.first) * _BYTES


class KafkaFeed:
    """One stream's topic."""

    def __init__(self, source: Kafka) -> None:
        self._source, self._topic = source, Topic(source)
        self._began: Position | None = None
        self._until: Position | None = None

    def initial(self) -> Position:
        """Where a new checkpoint starts: the same whenever this process is asked."""
        if self._began is None:
            end = self._source.begin == "latest"
            self._began = {str(number): reach[end] for number, reach in self._topic.reach().items()}
        return self._began

    def freeze(self) -> None:
        """Messages that come from now on do not count."""
        self._until = self._ends(self._topic.reach())

    def latest(self, start: Position | None) -> Position:
        """The position after the next batch; the start itself if there is nothing new."""
        reach = self._topic.reach()
        ends = self._until or self._ends(reach)
        if start is None:
            return ends
        begins = {number: start.get(number, reach[int(number)][0]) for number in ends}
        for number, begin in begins.items():
            self._check_there(number, begin, *reach[int(number)])
        waiting = {number: max(0, ends[number] - begin) for number, begin in begins.items()}
        if not any(waiting.values()):
            return start
        ends = {number: begin + self._share(waiting, number) for number, begin in begins.items()}
        return {**ends, _FROM: begins}

    def silent(self, start: Position) -> Position:
        """The position after a batch that has nothing of this stream."""
        return {number: at for number, at in start.items() if number != _FROM}

    def pieces(self, start: Position, end: Position) -> list[Messages]:
        """The work between two positions, partition by partition."""
        reach, start = self._topic.reach(), end.get(_FROM, start)
        end = self.silent(end)
        gone = next((number for number in end if int(number) not in reach), None)
        if gone is not None:
            raise DataError(f"topic {self._source.topic!r} has no partition {gone} any more; was it made anew?")
        spans = [(int(number), start.get(number, reach[int(number)][0]), last) for number, last in end.items()]
        for number, first, _ in spans:
            self._check_there(str(number), first, *reach[number])
        return [Messages(number, first, last) for number, first, last in spans if last > first]

    def _ends(self, reach: Mapping[int, tuple[int, int]]) -> Position:
        return {str(number): last for number, (_, last) in reach.items()}

    def _share(self, waiting: Mapping[str, int], number: str) -> int:
        """How many of a partition's messages are taken: all, or as much of the limit as it has of what waits."""
        total, most = sum(waiting.values()), self._source.max_rows
        return waiting[number] if most is None or total <= most else -(-waiting[number] * most // total)

    def _check_there(self, number: str, begin: int, first: int, last: int) -> None:
        if not first <= begin <= last:
            raise DataError(
                f"topic {self._source.topic!r}, partition {number}: message {begin:,} is to be read next, and there "
                f"are {first:,} to {last - 1:,}. It was deleted before it was read, or the topic was made anew; keep "
                "messages for longer, or start with a new checkpoint"
            )
