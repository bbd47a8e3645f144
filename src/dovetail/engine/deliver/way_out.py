"""What complete combinations pass on their way out, tied to the windows that their members stand in."""

from collections.abc import Mapping
from dataclasses import dataclass

from dovetail.engine.combine.row_windows import RowCheck
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.unmatched import Semi, Unmatched


@dataclass(frozen=True)
class WayOut:
    """The exit, the test of row windows, and the notes about who has had a partner."""

    exit: Projection
    row_check: RowCheck
    unmatched: Mapping[str, Unmatched]
    semi: Semi | None
