"""What files there are, and what each says of itself without being read.

A file is known by its size, the checksum of its end and its last change, so that another one under its name, or one
that has grown, is noticed when it is read. The footer of a Parquet file also tells, of every row group, how many rows
it has and between which times they lie.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import glob, has_magic
from os.path import abspath
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from dovetail.errors import DataError
from dovetail.model.files import Files
from dovetail.runtime.files.delta import is_table, table_files
from dovetail.runtime.files.iceberg import snapshot_files

TAIL_BYTES = 1 << 16  # bytes at the end that are summed; it holds the footer of most Parquet files
_AT_ONCE = 8  # files that are looked at concurrently: stores across a network take their time
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Seen:
    """A file in a listing."""

    path: str
    size: int
    changed_ns: int


@dataclass(frozen=True)
class Group:
    """A row group: its rows and bytes, and its smallest and largest time if the footer tells and none is NULL.

    Not ``exact``: they have nanoseconds, and the largest is rounded up.
    """

    rows: int
    bytes: int
    times: tuple[int, int] | None
    exact: bool = True


@dataclass(frozen=True)
class Known:
    """A file as it was when it was looked at; ``groups`` are those of a Parquet file, None for other formats.

    When it was last changed is not known of files in positions of old checkpoints.
    """

    path: str
    size: int
    tail: int
    groups: tuple[Group, ...] | None = None
    changed_ns: int | None = None

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups or ())

    @property
    def empty(self) -> bool:
        """Whether it is known to have no rows."""
        return self.groups is not None and not self.rows

    @property
    def times(self) -> tuple[int, int] | None:
        """The smallest and the largest time of all rows, if all groups tell."""
        return span([group.times for group in self.groups or () if group.rows])


def span(times: Sequence[tuple[int, int] | None]) -> tuple[int, int] | None:
    """From the smallest to the largest; None if some are not known, or if there are none."""
    known = [each for each in times if each is not None]
    if not known or len(known) < len(times):
        return None
    return min(first for first, _ in known), max(last for _, last in known)


def filesystem(path: str) -> tuple[Any, str]:
    """Where a path is, and what it is called there; anything that is no URI is on this machine."""
    if "://" in path or path.startswith("file:"):
        found: tuple[Any, str] = pafs.FileSystem.from_uri(path)
        return found
    return pafs.LocalFileSystem(), abspath(path)


def listed(source: Files) -> list[Seen]:
    """The files below a path, or that fit a pattern, or of a table; what is hidden is left out."""
    path = source.path
    scheme = path[: path.index("://") + 3] if "://" in path else ""
    store, below = filesystem(path)
    local = isinstance(store, pafs.LocalFileSystem)
    if source.format == "iceberg":
        return [Seen(*file) for file in snapshot_files(store, below, path)]
    if not has_magic(below) and is_table(store, below):
        root = below if local else f"{scheme}{below}"
        return [Seen(f"{root}/{name}", size, ms * 1_000_000) for name, size, ms in table_files(path)]
    tops = sorted(glob(below)) if local and has_magic(below) else [below]
    found = []
    for top in tops:
        for info in _infos(store, top):
            inside = info.path[len(top) :].strip("/").split("/")
            if info.is_file and not any(part.startswith(("_", ".")) for part in inside):
                found.append(Seen(info.path if local else f"{scheme}{info.path}", info.size, info.mtime_ns or 0))
            elif inside[-1] == "_spark_metadata":
                raise DataError(
                    f"{top} was written by Spark's file sink, and which of its files count is known to Spark alone: "
                    "read it with spark.readStream instead of files()"
                )
    return found


def _infos(store: Any, top: str) -> list[Any]:
    (info,) = store.get_file_info([top])
    if info.is_file:
        return [info]
    selector = pafs.FileSelector(top, recursive=True, allow_not_found=True)
    return [each for each in store.get_file_info(selector) if each.is_file or each.base_name == "_spark_metadata"]


def looked_at(files: Sequence[Seen], time: str, parquet: bool) -> list[Known]:
    """What each file says of itself."""
    if len(files) < 2:
        return [look(file.path, time, parquet) for file in files]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return list(threads.map(lambda file: look(file.path, time, parquet), files))


def look(path: str, time: str, parquet: bool) -> Known:
    """What a file says of itself; DataError that names it if it is gone, or is no Parquet file."""
    try:
        store, name = filesystem(path)
        _, changed_ns = stamp(store, name)  # asked first: if the file is replaced now, that is noticed when it is read
        with store.open_input_file(name) as file:
            tail = sum_of_end(file)
            groups = _groups(pq.ParquetFile(file).metadata, time) if parquet else None
            return Known(path, file.size(), tail, groups, changed_ns)
    except FileNotFoundError as error:
        raise gone(path) from error
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, "parquet" if parquet else "file", error) from error


def stamp(store: Any, name: str) -> tuple[int, int]:
    """A file's bytes, and when it was last changed in ns (0 if its store does not tell); FileNotFoundError if gone."""
    (info,) = store.get_file_info([name])
    if info.type == pafs.FileType.NotFound:
        raise FileNotFoundError(name)
    return info.size or 0, info.mtime_ns or 0


def sum_of_end(file: Any) -> int:
    """The checksum of the last bytes of an open file, which is then at its beginning."""
    file.seek(max(0, file.size() - TAIL_BYTES))
    sum_ = crc32(file.read())
    file.seek(0)
    return sum_


def gone(path: str) -> DataError:
    """The error about a file that is no longer there."""
    return DataError(f"file {path} was there when the batch was planned, and is gone; put it back")


def unreadable(path: str, format: str, error: Exception) -> DataError:
    """The error about a file that is damaged, or is something else."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(f"file {path} cannot be read as {format}: {reason}; repair it, or move it out of the folder")


def _groups(footer: Any, time: str) -> tuple[Group, ...]:
    leaf = next((n for n in range(footer.num_columns) if footer.schema.column(n).path == time), -1)
    cut = leaf >= 0 and "nanoseconds" in str(footer.schema.column(leaf).logical_type)
    groups = []
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        statistics = group.column(leaf).statistics if leaf >= 0 else None
        groups.append(Group(group.num_rows, group.total_byte_size, _times(statistics, cut), not cut))
    return tuple(groups)


def _times(statistics: Any, cut: bool) -> tuple[int, int] | None:
    """The bounds in microseconds; where nanoseconds are ``cut`` off, the upper one is too large, never too small."""
    if statistics is None or not statistics.has_min_max or statistics.null_count:
        return None
    ends = statistics.min, statistics.max
    if not all(isinstance(end, datetime) for end in ends):
        return None
    return _us(ends[0]), _us(ends[1]) + cut


def _us(time: datetime) -> int:
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
