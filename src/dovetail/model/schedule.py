"""In which order arrivals look through the windows of queries that share an operator.

A stage is a set of windows, one per stream, that holds those of the stage before; an arrival looks through the first
stage, then through what the second adds to it, and so on, and may be suspended in between.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """The sizes of each stage's windows, the stages by urgency (the most urgent first), and who waits for what.

    ``early``: a result leaves once no older one can follow it; otherwise its arrival must also have completed
    the query's windows.
    """

    stages: tuple[Mapping[str, int], ...]
    urgency: tuple[int, ...]
    early: bool = True

    @property
    def last(self) -> int:
        """The number of the stage that holds all windows."""
        return len(self.stages) - 1

    def stage_of(self, sizes: Mapping[str, int]) -> int:
        """The first stage that holds these windows."""
        return next(
            (at for at, stage in enumerate(self.stages) if all(size <= stage[name] for name, size in sizes.items())),
            self.last,
        )
