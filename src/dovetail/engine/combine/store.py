"""The windows of all streams under the plan in force: where tuples are stored, and until when.

A tuple is stored once, after it has passed the gate; then it probes. Tuples of a row window are stored ahead of their
turn, all of a batch at once, so that it is known whom they push out; until their turn comes they are hidden.
"""

from collections.abc import Mapping

from dovetail.engine.admit.door import Door
from dovetail.engine.block.block import Block
from dovetail.engine.buffer.section import Section
from dovetail.engine.buffer.slices import SliceLog
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids
from dovetail.engine.combine.row_windows import RowWindowed
from dovetail.model.query import JoinQuery
from dovetail.model.window import UNBOUNDED_US, RowWindow, TimeWindow
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import row_group


class Store:
    """Windows by stream, how long each is in time, and how many tuples have been stored and have probed."""

    def __init__(self, plan: Plan, windows: Mapping[str, Window], doors: Mapping[str, Door]) -> None:
        self.plan = plan
        self.windows = windows
        self.doors = doors
        streams = plan.query.streams
        self.widths = _widths(plan.query)
        self.row_windows = {
            s.name: RowWindowed(windows[s.name], s.window, row_group(plan.query, s.name))
            for s in streams
            if isinstance(s.window, RowWindow)
        }
        self.joined = dict.fromkeys(windows, 0)
        self._slices = [SliceLog(name, window, doors[name].stored) for name, window in windows.items()]

    def seen_by(self, query: JoinQuery) -> tuple[dict[str, int], dict[str, RowWindowed]]:
        """Widths and row windows as a query sees them whose windows are of the same kinds, and no larger."""
        counts = {s.name: s.window.count for s in query.streams if isinstance(s.window, RowWindow)}
        return _widths(query), {name: self.row_windows[name].counting(count) for name, count in counts.items()}

    def adopt(self, plan: Plan) -> None:
        """Keep the same tuples the way another plan wants them."""
        self.plan = plan
        for name, window in self.windows.items():
            window.restructure(plan.storage[name], self.doors[name].stored)

    def store_ahead(self, name: str, block: Block) -> None:
        """Store tuples of a row window before their turn; probes do not see them yet."""
        self.windows[name].append_ahead(block)

    def store(self, name: str, block: Block) -> tuple[int, int]:
        """The ids of a block's first tuple and of the one after its last; stored now, or shown if it was ahead."""
        window = self.windows[name]
        return window.show(len(block)) if window.hidden else window.append(block)

    def forget(self, name: str, others: int) -> Ids | None:
        """Forget tuples that nothing from time ``others`` on can reach; tuples to store anew, if most are gone."""
        if name in self.row_windows:
            return self.row_windows[name].forget(others)
        self.windows[name].expire(others - self.widths[name])
        return None

    def has_expired(self, name: str, others: int) -> bool:
        """Whether ``forget`` would find something, as far as that can be told without looking."""
        return name in self.row_windows or self.windows[name].oldest < others - self.widths[name]

    def sections(self) -> list[Section]:
        """The windows' parts of the state."""
        return [*self._slices]


def _widths(query: JoinQuery) -> dict[str, int]:
    """Microseconds; tuples of row windows leave by count, not by time."""
    windows = {stream.name: stream.window for stream in query.streams}
    return {name: w.length_us if isinstance(w, TimeWindow) else UNBOUNDED_US for name, w in windows.items()}
