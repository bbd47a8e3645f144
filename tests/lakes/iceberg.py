"""Iceberg tables without any service: a catalog in a file of SQLite."""

from pathlib import Path
from shutil import copyfile
from typing import Any

import pyarrow as pa


def catalog_at(folder: Path) -> Any:
    """The catalog of a folder, which also has its tables."""
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog("shelf", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")


def append(catalog: Any, table: str, rows: pa.Table, partitioned_by: str | None = None) -> None:
    """One commit; the first makes the table."""
    from pyiceberg.transforms import IdentityTransform

    catalog.create_namespace_if_not_exists("shop")
    if not catalog.table_exists(f"shop.{table}"):
        made = catalog.create_table(f"shop.{table}", rows.schema)
        if partitioned_by is not None:
            with made.update_spec() as change:
                change.add_field(partitioned_by, IdentityTransform())
    catalog.load_table(f"shop.{table}").append(rows)


def as_hadoop_has_it(catalog: Any, table: str, folder: Path) -> None:
    """The metadata that counts, under the number that a catalog of Hadoop's would give it."""
    now = Path(catalog.load_table(f"shop.{table}").metadata_location.removeprefix("file://"))
    copyfile(now, folder / "metadata" / f"v{int(now.name[:5])}.metadata.json")
