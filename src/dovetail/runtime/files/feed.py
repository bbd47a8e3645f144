"""Which files of a folder are new since a position, and what of them is the next batch.

A position is plain JSON: the fingerprints of the files read so far that are still there, and the files of the batch
that it ends, each with its size, the checksum of its end and its last change, so that a batch that is repeated has the
same rows or says which file is another. So it stays small where files that were read are moved away.

    {"seen": "<16 characters per file>", "batch": [["in/7.parquet", 5120, 3735928559, 1782864000123456789]],
     "times": [[1782860000000000, 1782864000000000]]}

The times of all rows so far lie between those; null, if a file did not tell. A position that was made without knowing
the one before (Spark 4.0 and 4.1 do not tell) has no batch: all that it has seen and the one before has not is new.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from dovetail.errors import DataError
from dovetail.model.files import Files
from dovetail.runtime.files.delta import is_table
from dovetail.runtime.files.listing import Known, Seen, filesystem, listed, look, looked_at
from dovetail.runtime.files.near import merged
from dovetail.runtime.files.order import admitted, in_order
from dovetail.runtime.files.same import check_same

_SPANS = 32  # in a position: about a kilobyte; rows that come steadily need one
_DIGEST = 12  # bytes: no two of a billion files are taken for one

Position = Mapping[str, Any]


@dataclass(frozen=True)
class Piece:
    """Work that is not divided further: a file, or one row group of it; its rows and times, if known exactly."""

    file: Known
    groups: tuple[int, ...] | None
    bytes: int
    rows: int = 0
    times: tuple[int, int] | None = None


class FilesFeed:
    """One stream's files; ``delay_us`` is how late its rows may come."""

    def __init__(self, source: Files, time: str, delay_us: int) -> None:
        self._source, self._time, self._delay_us = source, time, delay_us
        self._parquet = source.are_parquet
        self._sizes: dict[str, int] = {}  # of the files that were read since this process began
        self._waiting: dict[Seen, Known] = {}  # looked at already
        self._planned: dict[str, Known] = {}
        self._only: frozenset[str] | None = None

    def initial(self) -> Position:
        """Nothing was read."""
        return {"seen": "", "batch": [], "times": []}

    def freeze(self) -> None:
        """Files that come from now on do not count."""
        self._only = frozenset(file.path for file in listed(self._source))

    def latest(self, start: Position | None) -> Position:
        """The position after the next batch; the start itself if there is nothing new."""
        here = self._listed(start)
        files = [file for file in here if self._only is None or file.path in self._only]
        if start is None:
            return {"seen": _text({_digest(file.path) for file in files}), "batch": None, "times": None}
        seen = _digests(start["seen"]) & {_digest(file.path) for file in here}
        new = [file for file in files if _digest(file.path) not in seen]
        self._check_sizes(files)
        if not new:
            return start
        files_in_order = in_order(new, self._look(new))
        batch = files_in_order[: admitted(files_in_order, self._source, self._delay_us)]
        self._planned = {file.path: file for file in batch}
        self._sizes |= {file.path: file.size for file in batch}
        named = [[file.path, file.size, file.tail, file.changed_ns] for file in batch]
        seen |= {_digest(file.path) for file in batch}
        return {"seen": _text(seen), "batch": named, "times": _times_after(start.get("times"), batch)}

    @property
    def planned(self) -> list[Known]:
        """The files of the batch that was planned last."""
        return list(self._planned.values())

    def silent(self, start: Position) -> Position:
        """The position after a batch that has nothing of this stream."""
        return {**start, "batch": []} if start["batch"] else start

    def pieces(self, start: Position, end: Position) -> list[Piece]:
        """The work of a batch, in order; DataError names a file that is gone or has changed."""
        if end["batch"] is None:
            files = self._since(_digests(start["seen"]), _digests(end["seen"]))
        else:
            files = [self._as_planned(_named(*each)) for each in end["batch"]]
        return [piece for file in files for piece in pieces_of(file)]

    def _listed(self, start: Position | None) -> list[Seen]:
        """All files there are; of a table, none of those that were known before may be gone."""
        files = listed(self._source)
        here = {_digest(file.path) for file in files}
        known = _digests(start["seen"] if start else "") | {_digest(path) for path in self._only or ()}
        if known - here and self._is_table:
            raise DataError(
                f"table {self._source.path} was written anew since its first rows were read (OPTIMIZE, DELETE, MERGE), "
                "and rows would come twice; Dovetail reads tables that are only appended to"
            )
        return files

    @property
    def _is_table(self) -> bool:
        """Whether rows that go away may have come back in other files."""
        return self._source.format == "iceberg" or is_table(*filesystem(self._source.path))

    def _check_sizes(self, files: Sequence[Seen]) -> None:
        for file in files:
            if self._sizes.get(file.path, file.size) != file.size:
                raise DataError(
                    f"file {file.path} had {self._sizes[file.path]:,} bytes when it was read and has {file.size:,} "
                    "now; what was added is not read. Add new files instead of adding to old ones."
                )

    def _look(self, files: Sequence[Seen]) -> list[Known]:
        new = [file for file in files if file not in self._waiting]
        found = dict(zip(new, looked_at(new, self._time, self._parquet), strict=True))
        self._waiting = {file: self._waiting.get(file) or found[file] for file in files}
        return list(self._waiting.values())

    def _as_planned(self, file: Known) -> Known:
        """What this process has planned is not looked at again: who reads it does."""
        planned = self._planned.get(file.path)
        if planned is not None and replace(planned, groups=None) == file:
            return planned
        now = look(file.path, self._time, self._parquet)
        check_same(file, now)
        return now

    def _since(self, before: set[bytes], after: set[bytes]) -> list[Known]:
        new = after - before
        files = [file for file in self._listed({"seen": _text(before)}) if _digest(file.path) in new]
        if len(files) < len(new):
            raise DataError(f"{len(new) - len(files)} of the files of a batch at {self._source.path} are gone")
        return in_order(files, looked_at(files, self._time, self._parquet))


def pieces_of(file: Known) -> list[Piece]:
    """A file's row groups one by one, or all of it."""
    if file.empty:
        return []
    bare = replace(file, groups=None)
    if file.groups is None:
        return [Piece(bare, None, file.size)]
    pieces = [
        Piece(bare, (number,), group.bytes, group.rows, group.times if group.exact else None)
        for number, group in enumerate(file.groups)
        if group.rows
    ]
    return pieces if len(file.groups) > 1 else [replace(pieces[0], groups=None, bytes=file.size)]


def all_files(source: Files, time: str) -> list[Known]:
    """All files that there are now, in order."""
    files = listed(source)
    return in_order(files, looked_at(files, time, source.are_parquet))


def _named(path: str, size: int, tail: int, changed_ns: int | None = None) -> Known:
    """A file as positions name it; old ones do not know its last change."""
    return Known(path, size, tail, changed_ns=changed_ns)


def _times_after(before: Any, files: Sequence[Known]) -> list[list[int]] | None:
    """Between which times all rows lie after these files; None if some did not tell exactly."""
    groups = [group for file in files for group in file.groups or () if group.rows]
    told = [group.times for group in groups if group.times is not None and group.exact]
    if before is None or len(told) < len(groups) or any(file.groups is None for file in files):
        return None
    return [list(span) for span in merged([*map(tuple, before), *told], _SPANS)]


def _digest(path: str) -> bytes:
    return blake2b(path.encode(), digest_size=_DIGEST).digest()


def _text(digests: set[bytes]) -> str:
    return b64encode(b"".join(sorted(digests))).decode()


def _digests(text: str) -> set[bytes]:
    whole = b64decode(text)
    return {whole[at : at + _DIGEST] for at in range(0, len(whole), _DIGEST)}
