"""A group of queries with its controller: planned anew while it runs, and kept inside its budget."""

from collections.abc import Callable, Mapping
from typing import Any

from dovetail.control.schedule import schedule_windows
from dovetail.control.steered import Steered
from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.operator.asof_group import AsOfGroup
from dovetail.engine.operator.engine import Rows
from dovetail.engine.operator.group import Group, Setup
from dovetail.plan.share_queries import SharedPlan


class SteeredGroup(Steered):
    """One group under control."""

    operator: Group

    def __init__(self, group: Group, meter: Callable[[], float] | None = None) -> None:
        super().__init__(group, group.shared.plan.query, meter)
        self._meter = meter

    @classmethod
    def of(
        cls, shared: SharedPlan, setup: Setup | None = None, meter: Callable[[], float] | None = None
    ) -> "SteeredGroup":
        """A group that starts."""
        return cls(Group(shared, schedule_windows(shared), setup), meter)

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of its streams."""
        return self.operator.streams

    @property
    def diverted(self) -> Diverted:
        """The rows that did not come in."""
        return self.operator.diverted

    def progress(self) -> dict[str, dict[str, Any]]:
        """How far each stream has come, for a group that starts later."""
        return self.operator.progress()

    def start_late(self, progress: Mapping[str, Mapping[str, Any]]) -> None:
        """Begin with the progress that other groups have seen."""
        self.operator.start_late(progress)

    def changed(self, shared: SharedPlan) -> "SteeredGroup":
        """An operator for other queries that goes on from here."""
        group = self.operator.changed(shared, schedule_windows(shared))
        if group is self.operator:
            return self
        other = SteeredGroup(group, self._meter)
        other.controller.restore(self.controller.header())
        return other

    @property
    def suspended(self) -> int:
        """How many arrivals have not looked through all windows yet."""
        return self.operator.suspended

    def work(self) -> Rows:
        """The most urgent piece of work."""
        return self.operator.work()


AnyGroup = SteeredGroup | AsOfGroup


def group_of(shared: SharedPlan, setup: Setup | None = None, meter: Callable[[], float] | None = None) -> AnyGroup:
    """The operator of a group that starts; in an as-of join there is nothing to control."""
    if shared.plan.query.answered is None:
        return SteeredGroup.of(shared, setup, meter)
    return AsOfGroup(shared, None if setup is None else setup.store)
