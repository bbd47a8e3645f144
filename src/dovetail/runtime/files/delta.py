"""The files of a Delta table: those that its log names, and not all that lie in its folder.

A stream of them is a stream of what is appended. Files that go away were written anew (OPTIMIZE, DELETE, MERGE), and
their rows would come once more: that ends the query.
"""

from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as pafs

from dovetail.errors import DataError, PlanError

_LOG = "_delta_log"
# With other features of readers a file alone does not say which of its rows count, or what they are called.
_FEATURES = {"timestampNtz"}


def is_table(store: Any, folder: str) -> bool:
    """Whether a folder is a Delta table."""
    return bool(store.get_file_info([f"{folder}/{_LOG}"])[0].type == pafs.FileType.Directory)


def table_files(path: str) -> list[tuple[str, int, int]]:
    """The names of all files that count now, below the table's folder, with their bytes and times of change in ms."""
    table = delta_library().DeltaTable(path)
    _check_plain(path, table)
    added = pa.table(table.get_add_actions(flatten=True))
    columns = (added[name].to_pylist() for name in ("path", "size_bytes", "modification_time"))
    return [(unquote(name), size, changed) for name, size, changed in zip(*columns, strict=True)]


def _check_plain(path: str, table: Any) -> None:
    """The rows of files are the rows of the table; DataError if more must be known of them."""
    settings, features = table.metadata().configuration, set(table.protocol().reader_features or ())
    extra = sorted(features - _FEATURES)
    if settings.get("delta.columnMapping.mode", "none") != "none":
        extra = ["columnMapping"]
    if table.metadata().partition_columns:
        extra = ["partitions, whose columns are not in its files"]
    if extra:
        raise DataError(f"table {path} has {', '.join(extra)}; read it with spark.readStream.format('delta') instead")


def delta_library() -> Any:
    """What reads and writes the logs of tables; PlanError if it is missing."""
    try:
        import deltalake
        import deltalake.transaction
    except ImportError as error:
        raise PlanError("logs of Delta tables need deltalake; pip install 'dovetail[lakes]'") from error
    return deltalake
