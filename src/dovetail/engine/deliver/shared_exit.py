"""The exit of an operator that many queries share: verified like any, then routed to the queries they belong to."""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.row_windows import RowCheck
from dovetail.engine.combine.store import Store
from dovetail.engine.deliver.ages import Ages
from dovetail.engine.deliver.exit import Exit
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.route import Router, Subscription
from dovetail.engine.deliver.shared_hold import SharedHold
from dovetail.model.query import JoinQuery
from dovetail.plan.share_queries import SharedPlan


class Routing(Projection):
    """Makes rows of the queries that results belong to, instead of rows of one query."""

    router: Router

    def rows(self, results: Partial) -> Iterator[pa.RecordBatch]:
        return self.router.rows(results)


def shared_exit(shared: SharedPlan, places: Sequence[Subscription]) -> Callable[[JoinQuery, Store], Exit]:
    """How an operator for these queries makes its exit; ``route`` must follow before results come."""

    def exit_of(query: JoinQuery, store: Store) -> Exit:
        projection = Routing(store.plan, store.windows)
        row_check = RowCheck(store.windows, store.row_windows)
        return Exit(query, projection, row_check, {}, None, SharedHold(shared, places, projection))

    return exit_of


def router_of(shared: SharedPlan, places: Sequence[Subscription], certain: Sequence[str], store: Store) -> Router:
    """Routes results over these windows to the queries in these places."""
    query, windows = store.plan.query, store.windows
    ages = Ages(query, windows, store.row_windows, RowCheck(windows, store.row_windows))
    return Router(shared, places, certain, windows, ages)
