"""Many queries as one operator: what ``dovetail.share`` returns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail.plan.group_queries import Groups

if TYPE_CHECKING:
    from dovetail.runtime.shared import SharedRun


@dataclass(frozen=True)
class SharedQuery:
    """Queries that run together, embedded or on Spark; each gets what it would get alone."""

    groups: Groups

    @property
    def names(self) -> tuple[str, ...]:
        """The names that results carry."""
        return tuple(member.name for member in self.groups.members)

    @property
    def schema(self) -> pa.Schema:
        """Columns of the result: ``query``, ``result_time``, then every column that some query selects."""
        return self.groups.schema

    def local(self, snapshot: bytes | None = None) -> "SharedRun":
        """The embedded engine; from a snapshot of the same or of other queries over these streams, it goes on."""
        from dovetail.runtime.shared import SharedRun

        return SharedRun(self.groups, snapshot)

    def collect(self) -> pa.Table:
        """Run finite inputs to the end with the embedded engine, in order of event time."""
        from dovetail.runtime.shared import collect_shared

        return collect_shared(self.groups)
