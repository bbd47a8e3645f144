"""Files as the data of a stream: read and decoded by Dovetail itself, embedded and on Spark."""

from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from dovetail.errors import StreamError
from dovetail.model.choice import not_one_of
from dovetail.model.number import as_count

FORMATS = ("parquet", "csv", "json", "arrow", "iceberg")


@dataclass(frozen=True)
class Files:
    """A folder of files, one file, or a pattern such as ``in/2026-*.parquet``; ``dovetail.files`` makes one.

    Iceberg tables are named by their folder, or as ``catalog.namespace.table``.

    ``max_rows`` and ``max_files`` bound a batch on Spark; files that would come too late behind it still come along.
    A ``static`` folder is a table on Spark: what it holds at the start is all. CSV has ``header`` and ``delimiter``.
    """

    path: str
    format: str = "parquet"
    max_rows: int | None = None
    max_files: int | None = None
    static: bool = False
    header: bool = True
    delimiter: str = ","

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise StreamError(f"files({self.path!r}): give the path of a folder or of a file")
        if not isinstance(self.format, str) or self.format not in FORMATS:
            raise StreamError(f"files: {not_one_of('format', self.format, FORMATS)}")
        for limit in ("max_rows", "max_files"):
            given = getattr(self, limit)
            if given is not None and as_count(given) is None:
                raise StreamError(f"files: {limit} must be a whole number, 1 or more, got {given!r}")
        if self.max_rows is not None and not self.are_parquet:
            raise StreamError(
                f"files: only Parquet files say how many rows they have; limit {self.format} by max_files"
            )
        for flag in ("static", "header"):
            if not isinstance(getattr(self, flag), bool):
                raise StreamError(f"files: {flag} must be True or False, got {getattr(self, flag)!r}")
        if not isinstance(self.delimiter, str) or len(self.delimiter) != 1 or not self.delimiter.isascii():
            raise StreamError(f"files: delimiter must be one ASCII character, got {self.delimiter!r}")

    @property
    def are_parquet(self) -> bool:
        """Whether each file says what it holds."""
        return self.format in ("parquet", "iceberg")


def files(path: "str | PathLike[str]", format: str = "parquet", **options: Any) -> Files:
    """Files as ``data=`` of a stream: Parquet, CSV, JSON lines, Arrow IPC, tables of a lake; rows never become Java's.

    Options: ``max_rows`` and ``max_files`` of a batch, ``static`` (on Spark a table instead of a stream), and for CSV
    ``header`` and ``delimiter``. CSV and JSON lines need the ``schema=`` of the stream.

    >>> import dovetail as dv
    >>> dv.files("in/temperature", max_rows=1_000_000).format
    'parquet'
    """
    unknown = next((name for name in options if name not in Files.__dataclass_fields__), None)
    if unknown is not None:
        known = [name for name in Files.__dataclass_fields__ if name not in ("path", "format")]
        raise StreamError(f"files: there is no option {unknown!r}; there are: {', '.join(known)}")
    return Files(fspath(path) if isinstance(path, PathLike) else path, format, **options)
