"""An operator around another: what it does not do itself, the one inside does."""

from typing import Any

from dovetail.engine.admit.door import Lateness
from dovetail.engine.operator.contract import Operator, SideOutput
from dovetail.engine.operator.readings import Readings
from dovetail.engine.policies.stages import Rows


class Around:
    """Passes calls of ``Operator`` on, but for ``push`` and the state."""

    operator: Operator

    def advance(self, name: str, time_us: int) -> Rows:
        return self.operator.advance(name, time_us)

    def tick(self, now_us: int) -> Rows:
        return self.operator.tick(now_us)

    def close(self) -> Rows:
        return self.operator.close()

    @property
    def frontier(self) -> int:
        return self.operator.frontier

    def statistics(self) -> tuple[Readings, ...]:
        return self.operator.statistics()

    @property
    def diverted(self) -> SideOutput:
        return self.operator.diverted

    def lateness(self) -> dict[str, Lateness]:
        return self.operator.lateness()

    def awaits(self, now_us: int) -> bool:
        return self.operator.awaits(now_us)

    def metrics(self) -> dict[str, Any]:
        return self.operator.metrics()
