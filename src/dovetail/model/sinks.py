"""Where results go, as Arrow all the way: what ``query.write`` takes."""

from dataclasses import dataclass
from os import PathLike, fspath

from dovetail.errors import QueryError
from dovetail.model.choice import as_choice

COMPRESSIONS = ("snappy", "zstd", "lz4", "gzip", "none")


@dataclass(frozen=True)
class Parquet:
    """A folder of Parquet files, one folder ``batch=0``, ``batch=1``, ... in it for each batch; exactly once."""

    path: str
    compression: str = "snappy"

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise QueryError(f"parquet({self.path!r}): give the path of a folder")
        as_choice("compression", self.compression, COMPRESSIONS)


@dataclass(frozen=True)
class Delta:
    """A Delta table, made by the first batch that has rows; a batch is one commit of the table, exactly once."""

    path: str

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise QueryError(f"delta({self.path!r}): give the path of a table")


OwnSink = Parquet | Delta


def parquet(path: "str | PathLike[str]", compression: str = "snappy") -> Parquet:
    """A folder of Parquet files as the sink of ``query.write``.

    >>> import dovetail as dv
    >>> dv.parquet("out/alarms").compression
    'snappy'
    """
    return Parquet(fspath(path) if isinstance(path, PathLike) else path, compression)


def delta(path: "str | PathLike[str]") -> Delta:
    """A Delta table as the sink of ``query.write``; it needs ``dovetail[lakes]`` and no connector of Spark's.

    >>> import dovetail as dv
    >>> dv.delta("lake/alarms").path
    'lake/alarms'
    """
    return Delta(fspath(path) if isinstance(path, PathLike) else path)
