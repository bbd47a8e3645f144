"""Row windows: being among the last n tuples of a stream, or of a stream's key, up to the result time.

All tuples that are not late count, also those that a filter on the stream removes. With n = 2:

    S: a1 b3 c3 d4      T: x3      x3 sees {b3, c3}: all that S has up to 3 counts

Where a member alone has the result time, tuples of its stream that arrived after it do not count:

    S: b3 c3, n = 1     T: x1      b3 with x1 is a result, and so is c3 with x1
"""

from collections.abc import Hashable, Mapping

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

    def inside(self, member: Tuple, members: Mapping[str, Tuple]) -> bool:
        """Whether ``member`` is among the last n tuples that count for this combination."""
        window = self.query.stream(member.stream).window
        if not isinstance(window, RowWindow):
            return True
        result_time = max(each.time_us for each in members.values())
        others = [each.time_us for name, each in members.items() if name != member.stream]
        if result_time in others:
            counting = [row for row in self.group(member) if row.time_us <= result_time]
        else:
            counting = [row for row in self.group(member) if row.order <= member.order]
        return member in counting[-window.count :]

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
