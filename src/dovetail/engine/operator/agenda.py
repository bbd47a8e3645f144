"""What is still to be done: suspended arrivals, one queue per stage, the most urgent queue first.

    urgency (1, 0, 2)     arrivals that have looked through stage 0 go on to stage 1 before new ones begin

Within a queue it is first come, first served, so arrivals complete each stage in the order in which they came.
"""

from collections import deque

from dovetail.engine.combine.staged import Suspended
from dovetail.model.schedule import Schedule


class Agenda:
    """Suspended arrivals by the stage that they look through next."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._queues: list[deque[Suspended]] = [deque() for _ in schedule.stages]

    def __bool__(self) -> bool:
        return any(self._queues)

    @property
    def arrivals(self) -> int:
        """How many arrivals are suspended."""
        return sum(each.last - each.first for queue in self._queues for each in queue)

    def add(self, arrivals: Suspended) -> None:
        """Arrivals that have just been stored, or that have completed a stage."""
        if arrivals.stage < len(self._queues):
            self._queues[arrivals.stage].append(arrivals)

    def next(self) -> Suspended:
        """The most urgent."""
        return next(self._queues[stage] for stage in self.schedule.urgency if self._queues[stage]).popleft()

    def pending(self) -> dict[str, int]:
        """The earliest time of each stream's suspended arrivals."""
        earliest: dict[str, int] = {}
        for queue in self._queues:
            for each in queue:
                earliest[each.stream] = min(each.earliest, earliest.get(each.stream, each.earliest))
        return earliest

    def limits(self, limit: int) -> list[int]:
        """Per stage: up to which time results may leave, if they may up to ``limit`` once nothing is suspended."""
        early = self.schedule.early
        limits = []
        for queue in self._queues:
            limit = min([limit, *(each.earliest if early else each.earliest - 1 for each in queue)])
            limits.append(limit)
        return limits
