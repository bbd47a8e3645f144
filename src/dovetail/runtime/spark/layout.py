"""How rows are dealt out to buckets: the grid, and the number that stands for each of its cells in the shuffle.

Both follow from the query and from the number of partitions that the state has. That number is in the checkpoint, and
where the checkpoint is nobody knows when the pipeline is built. So each task lays the grid out for itself, from
the number that Spark has restored:

    session says 8, new checkpoint          planned for 8, run with 8
    session says 2, the same checkpoint     planned for 2, run with 8
"""

from dataclasses import dataclass

from dovetail.model.query import JoinQuery
from dovetail.plan.buckets import buckets_of, end_needs_all_rows
from dovetail.plan.partition_grid import Axis, Grid, partition_grid
from dovetail.plan.share_cells import plain_join
from dovetail.runtime.spark.bucket_numbers import bucket_numbers
from dovetail.runtime.spark.streaming_run import state_partitions


@dataclass(frozen=True)
class Layout:
    """A grid, the bucket number of each cell, and the partitions they were chosen for."""

    grid: Grid
    numbers: tuple[int, ...]
    partitions: int

    def __str__(self) -> str:
        return f"{self.grid}, over {self.partitions} shuffle partitions"


@dataclass(frozen=True)
class Layouts:
    """The layout of a query for any number of partitions; a value that travels to the workers.

    ``shared`` operators order rows by a last step of their own, so they may always have several buckets, those of an
    inner join, or ``along`` the axes that their queries need. Over
    ``finite`` inputs some queries need all rows in one, because how they end depends on all of them.
    """

    query: JoinQuery
    planned: int
    shared: bool = False
    finite: bool = False
    along: tuple[Axis, ...] | None = None

    def plan(self) -> Layout:
        """The layout for the session as it is."""
        return self._of(self._buckets(self.planned), self.planned)

    def here(self) -> Layout:
        """The layout of the run that this task belongs to."""
        partitions = state_partitions(self.planned)
        return self._of(1 if self._in_order_alone else self._buckets(partitions), partitions)

    @property
    def _in_order_alone(self) -> bool:
        """Whether the pipeline was built without the step that merges several buckets into one order."""
        return self.query.order != "none" and not self.shared and self.plan().grid.cells == 1

    def _buckets(self, partitions: int) -> int:
        if self.finite and end_needs_all_rows(self.query):
            return 1
        return (self.query.partitions or partitions) if self.shared else buckets_of(self.query, partitions)

    def _of(self, buckets: int, partitions: int) -> Layout:
        plain = plain_join(self.query) if self.shared else self.query
        grid = partition_grid(plain, buckets, along=self.along)
        return Layout(grid, bucket_numbers(grid.cells, partitions), partitions)
