"""The names a text may use: the columns of the query's streams, and the user's functions.

    T.vaule   ->   stream 'T' has no column 'vaule'; it has: location, value, ts. Did you mean 'value'?

A name is looked up as written first, and without regard to case if that finds exactly one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dovetail.errors import QueryError, nearest
from dovetail.model.check_parts import not_in_result
from dovetail.model.expression import Column, Expression, UserFunction
from dovetail.model.nested import path_of, plain_schema
from dovetail.model.stream import Stream
from dovetail.model.table import ALWAYS


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

    def nested(self, names: Sequence[str]) -> Column:
        """A field of a structure: stream, column and field, or column and field if one stream alone has the column."""
        if find_name(names[0], [stream.name for stream in self.streams] + list(self.hidden)):
            owner, (first, *inside) = self.stream(names[0]), names[1:]
            whole = self.column(owner.name, first)
        else:
            whole, inside = self._unqualified(names[0], False), list(names[1:])
        path, type_ = whole.name, whole.type
        for name in inside:
            fields = [field.name for field in type_] if pa.types.is_struct(type_) else []
            found = find_name(name, fields)
            if found is None:
                tail = nearest(name, fields) if fields else f"it is {type_}, not a structure"
                raise QueryError(f"column '{whole.stream}.{path}' has no field '{name}'; {tail}")
            path, type_ = f"{path}.{found}", type_.field(found).type
        if path in self.stream(whole.stream).schema.names and inside:
            field = self.stream(whole.stream).schema.field(path)
            if len(path_of(field)) == 1:
                raise QueryError(f"'{whole.stream}.{path}' is a field and the name of a column too; rename one")
        return Column(whole.stream, path, type_)

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

    def has_structure(self, name: str) -> bool:
        """Whether a name before a point is that of a structure, and of no stream."""
        if not name or find_name(name, [stream.name for stream in self.streams]) or find_name(name, self.hidden):
            return False
        found = [(stream, find_name(name, stream.schema.names)) for stream in self.streams]
        return any(column and pa.types.is_struct(stream.schema.field(column).type) for stream, column in found)

    def columns(self, stream_name: str) -> list[Column]:
        """Every column of a stream."""
        stream = self.stream(stream_name)
        return [_column(stream, name) for name in plain_schema(stream.schema).names if name != ALWAYS]

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
