"""Which cells the threads of one process join: those of the grid that Spark uses, or one, and then why.

A.k = B.k on 4 threads                4 cells: hash of A.k = B.k
A.k = B.k, A a window of 100 rows     one: all of A's rows are counted together
"""

from dovetail.model.query import JoinQuery
from dovetail.model.undo import can_be_undone
from dovetail.model.window import RowWindow
from dovetail.plan.buckets import end_needs_all_rows
from dovetail.plan.partition_grid import Grid, partition_grid

_SOME = 2  # cells: a query that cannot have two has one, whatever the number of threads


def thread_grid(query: JoinQuery, threads: int) -> Grid:
    """The cells of a query on at most so many threads."""
    return partition_grid(query, threads if why_one_thread(query) is None else 1)


def why_one_thread(query: JoinQuery) -> str | None:
    """Why the query runs on one thread whatever is asked for; None if it need not."""
    whole = next((s.name for s in query.streams if isinstance(s.window, RowWindow) and s.window.per == "stream"), None)
    if whole is not None:
        return f"the window of {whole} counts rows of the whole stream"
    if query.budget is not None:
        return "its budget is that of one engine"
    if query.answered is not None and can_be_undone(query):
        return "an as-of join whose calls can be undone tells what each call changed as one operator"
    if end_needs_all_rows(query):
        return "how its last rows come out depends on all of them"
    grid = partition_grid(query, _SOME)
    if grid.cells == 1 and query.aggregation is not None:
        return "its aggregates are kept up to date result by result, and no key keeps their groups apart"
    if grid.cells == 1:
        return "its rows cannot be dealt out without splitting what belongs together"
    if query.late == "divert" and any(grid.copies(name) > 1 for name in query.names):
        return "rows that go to several cells would be diverted several times"
    return None
