"""The files of an Iceberg table: those that its newest snapshot names.

    in/orders           v1.metadata.json, v2.metadata.json, ...: the largest number is the table (Hadoop's catalog)
    prod.shop.orders    what catalog "prod" says, which is configured for PyIceberg (~/.pyiceberg.yaml, PYICEBERG_...)

Metadata of other catalogs (00002-5f3a.metadata.json) is written before it counts, and only the catalog knows whether it
does. Files are never changed, and neither is metadata: what one names is looked up once.
"""

import re
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import pyarrow.fs as pafs

from dovetail.errors import DataError, PlanError

_NUMBERED = re.compile(r"v(\d+)(\.gz)?\.metadata\.json")
_INSTEAD = "read it with spark.readStream.format('iceberg') instead"


def snapshot_files(store: Any, folder: str, path: str) -> list[tuple[str, int, int]]:
    """Where all files are that count now, with their bytes and the numbers of the commits that added them.

    ``folder`` is what ``path`` is called in its ``store``; if there is none, the path is a name in a catalog.
    """
    found = store.get_file_info(pafs.FileSelector(f"{folder}/metadata", allow_not_found=True))
    numbered = {int(match[1]): info.path for info in found if (match := _NUMBERED.fullmatch(info.base_name))}
    if numbered:
        newest = numbered[max(numbered)]
        return list(_files_of(path, path[: path.rindex(folder)] + newest if "://" in path else newest))
    if found:
        raise DataError(
            f"which metadata of table {path} counts is known to its catalog; name it catalog.namespace.table"
        )
    return list(_named_files(path))


def _named_files(name: str) -> tuple[tuple[str, int, int], ...]:
    catalog, _, table = name.partition(".")
    library = _library()
    try:
        location = library.catalog.load_catalog(catalog).load_table(table).metadata_location
    except Exception as error:  # every catalog has errors of its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"there is no Iceberg table in folder {name}, and no catalog {catalog!r} that has {table!r}: {reason}"
        ) from error
    return _files_of(name, location)


@lru_cache(maxsize=16)
def _files_of(path: str, metadata: str) -> tuple[tuple[str, int, int], ...]:
    table = _library().table.StaticTable.from_metadata(metadata)
    _check_names(path, table.metadata)
    snapshot = table.metadata.current_snapshot()
    manifests = snapshot.manifests(table.io) if snapshot else []
    entries = [(each.content, entry) for each in manifests for entry in each.fetch_manifest_entry(table.io)]
    if any(content.name != "DATA" for content, _ in entries):
        raise DataError(f"table {path} has rows that were deleted or changed; {_INSTEAD}")
    files = [(entry.data_file, entry.sequence_number or 0) for _, entry in entries]
    other = next((file for file, _ in files if file.file_format.name != "PARQUET"), None)
    if other is not None:
        raise DataError(f"table {path} has files of format {other.file_format.name}, not Parquet; {_INSTEAD}")
    return tuple((_located(file.file_path), file.file_size_in_bytes, commit) for file, commit in files)


def _check_names(path: str, metadata: Any) -> None:
    """A column has had one name, and a name one column: files have the names of their time."""
    now = _columns(metadata.schema())
    names = {number: name for name, number in now.items()}
    for schema in metadata.schemas:
        for name, number in _columns(schema).items():
            if now.get(name, number) != number or names.get(number, name) != name:
                raise DataError(f"column {name!r} of table {path} was renamed or replaced; {_INSTEAD}")


def _columns(schema: Any) -> dict[str, int]:
    return {name: schema.find_field(name).field_id for name in schema.column_names}


def _located(uri: str) -> str:
    """A path of this machine, or a URI as Arrow knows it."""
    if urlsplit(uri).scheme == "file":
        return "/" + uri.removeprefix("file:").lstrip("/")
    return re.sub(r"^s3[an]://", "s3://", uri)


def _library() -> Any:
    """What reads the metadata of tables; PlanError if it is missing."""
    try:
        import pyiceberg.catalog
        import pyiceberg.table
    except ImportError as error:
        raise PlanError("Iceberg tables need pyiceberg; pip install 'dovetail[lakes]'") from error
    return pyiceberg
