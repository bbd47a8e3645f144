"""Row windows: being among the last n tuples of a stream, or of a stream's key, as seen from a tuple.

All tuples that are not late count, also those that a filter on the stream removes. With n = 2:

    S: a1 b3 c4      T: x3      seen from x3 the window of S is {a1, b3}; seen from c4 it is {b3, c4}

(S comes before T in the query, so b3 is before x3 in the total order.)
"""

from collections.abc import Hashable

from dovetail.model.expression import Expression, streams_of
from dovetail.model.predicate import Equality
from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow
from dovetail.testing.compare import canonical
from dovetail.testing.history import History, Tuple
from dovetail.testing.interpret import interpret


class RowCounts:
    """The tuples that count together with each tuple of a row-windowed stream, in total order."""

    def __init__(self, query: JoinQuery, history: History) -> None:
        self.query = query
        self.groups: dict[tuple[str, Hashable], list[Tuple]] = {}
        for stream in query.streams:
            if isinstance(stream.window, RowWindow):
                for row in sorted(history.tuples[stream.name], key=lambda each: each.order):
                    self.groups.setdefault((stream.name, self.key(row)), []).append(row)

    def inside(self, member: Tuple, newest: Tuple) -> bool:
        """Whether fewer than n tuples came after ``member``, up to and including ``newest``."""
        window = self.query.stream(member.stream).window
        if not isinstance(window, RowWindow):
            return True
        after = [row for row in self.group(member) if member.order < row.order <= newest.order]
        return len(after) < window.count

    def group(self, row: Tuple) -> list[Tuple]:
        return self.groups[row.stream, self.key(row)]

    def key(self, row: Tuple) -> Hashable:
        """What a tuple must share to be counted together: its key values, NULL like NULL, or nothing."""
        window = self.query.stream(row.stream).window
        if not isinstance(window, RowWindow) or window.per == "stream":
            return ()
        values = {row.stream: row.values}
        return tuple(canonical(interpret(side, values)) for side in key_of(self.query, row.stream))


def key_of(query: JoinQuery, stream: str) -> list[Expression]:
    """The sides of equality predicates that belong to a stream, each once."""
    sides: list[Expression] = []
    for predicate in query.predicates:
        if isinstance(predicate, Equality):
            for side in (predicate.left, predicate.right):
                if streams_of(side) == {stream} and side not in sides:
                    sides.append(side)
    return sides
