"""The parts of an engine that whoever keeps its memory looks at."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.door import Door
from dovetail.engine.admit.gate import Gate
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.row_windows import RowWindowed
from dovetail.engine.deliver.hold import Hold
from dovetail.engine.deliver.unmatched import Semi, Unmatched
from dovetail.engine.deliver.way_out import WayOut
from dovetail.engine.policies.shed.shedding import Shedding
from dovetail.plan.physical import Plan

Rows = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Insides:
    """Windows, doors and exits by stream; ``joined`` counts the tuples that have probed.

    ``plan`` gives the plan of now, ``deliver`` lets combinations out, ``shedding`` is that of a CPU budget.
    """

    plan: Callable[[], Plan]
    windows: Mapping[str, Window]
    doors: Mapping[str, Door]
    widths: Mapping[str, int]
    rows: Mapping[str, RowWindowed]
    gate: Gate
    hold: Hold
    diverted: Diverted
    unmatched: Mapping[str, Unmatched]
    semi: Semi | None
    latest: Callable[[], int]
    joined: Mapping[str, int]
    deliver: Callable[[Partial, WayOut], Rows]
    shedding: Shedding | None = None
