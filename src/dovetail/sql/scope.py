"""The names a text may use: the columns of the query's streams, and the user's functions.

    T.vaule   ->   stream 'T' has no column 'vaule'; it has: location, value, ts. Did you mean 'value'?

A name is looked up as written first, and without regard to case if that finds exactly one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dovetail.errors import QueryError, nearest
from dovetail.model.check_parts import not_in_result
from dovetail.model.expression import Column, Expression, UserFunction
from dovetail.model.stream import Stream


@dataclass(frozen=True)
class Scope:
    """What names mean in one query; the rows of hidden streams take part but cannot be spoken of."""

    streams: Sequence[Stream]
    functions: Mapping[str, UserFunction]
    hidden: Sequence[str] = ()

    def stand_in(self, node: object) -> Expression | None:
        """What a node of the text means as a whole, where that is decided here; None: what its parts mean."""
        return None

    def stream(self, name: str) -> Stream:
        """The stream of that name."""
        names = [stream.name for stream in self.streams]
        found = find_name(name, names)
        if found is None and find_name(name, self.hidden):
            raise QueryError(not_in_result(name, names))
        if found is None:
            tail = nearest(name, names).replace("it has", "the query has", 1)
            raise QueryError(f"there is no stream '{name}'; {tail}")
        return self.streams[names.index(found)]

    def column(self, stream_name: str | None, name: str, quoted: bool = False) -> Column:
        """The column of that name, of one stream or of the only one that has it; a quoted one may be meant as text."""
        if stream_name is None:
            return self._unqualified(name, quoted)
        stream = self.stream(stream_name)
        at = stream.schema.get_field_index(name)  # by a hash; -1 if there is none or more than one
        if at >= 0:
            return Column(stream.name, name, stream.schema.field(at).type)
        found = find_name(name, stream.schema.names)
        if found is None:
            raise QueryError(f"stream '{stream.name}' has no column '{name}'; {nearest(name, stream.schema.names)}")
        return _column(stream, found)

    def columns(self, stream_name: str) -> list[Column]:
        """Every column of a stream."""
        stream = self.stream(stream_name)
        return [_column(stream, name) for name in stream.schema.names]

    def function(self, name: str) -> UserFunction | None:
        """The user's function of that name, if there is one."""
        found = find_name(name, list(self.functions))
        return None if found is None else self.functions[found]

    def _unqualified(self, name: str, quoted: bool) -> Column:
        found = [(stream, find_name(name, stream.schema.names)) for stream in self.streams]
        owners = [(stream, column) for stream, column in found if column is not None]
        if len(owners) == 1:
            return _column(*owners[0])
        if owners:
            choices = " or ".join(f"{stream.name}.{column}" for stream, column in owners)
            raise QueryError(f"column '{name}' is in more than one stream; write {choices}")
        known = dict.fromkeys(column for stream in self.streams for column in stream.schema.names)
        text = f" For a text use single quotes: '{name}'." if quoted else ""
        tail = nearest(name, known).replace("it has", "there is", 1)
        raise QueryError(f"no stream has a column '{name}'; {tail}{text}")


def _column(stream: Stream, name: str) -> Column:
    if stream.schema.names.count(name) > 1:
        raise QueryError(f"stream '{stream.name}' has several columns named '{name}'; give each its own name")
    return Column(stream.name, name, stream.schema.field(name).type)


def find_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is meant: the same, or the only one that differs in case alone."""
    names = list(known)
    if name in names:
        return name
    folded = [candidate for candidate in names if candidate.lower() == name.lower()]
    return folded[0] if len(folded) == 1 else None
