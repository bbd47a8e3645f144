"""Iceberg tables that Dovetail reads by their metadata, without Spark: files that count, and what is refused."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.runtime.files.feed import FilesFeed
from tests.lakes.iceberg import append, as_hadoop_has_it, catalog_at

pytestmark = pytest.mark.lakes
TIME = pa.schema({"ts": pa.timestamp("us", tz="UTC"), "k": pa.int64()})


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A catalog of that name, as a user configures it."""
    from pyiceberg.utils.config import Config

    found = catalog_at(tmp_path)
    for name, value in found.properties.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__SHELF__{name.upper()}", value)
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())  # or else as it was when the library was loaded
    return found


def rows(*values: int) -> pa.Table:
    return pa.table([pa.array(values, pa.int64()).cast(TIME.types[0]), list(values)], schema=TIME)


def files(**options: Any) -> dv.Files:
    return dv.files("shelf.shop.t", format="iceberg", **options)


def joined(source: dv.Files) -> list[int]:
    a, b = (dv.stream(name, source, time="ts", window="1 second") for name in "AB")
    found: list[int] = dv.join(a, b, on="A.k = B.k", select="A.k").collect()["k"].to_pylist()
    return sorted(found)


def test_files_that_the_snapshot_does_not_name_do_not_count(catalog: Any, tmp_path: Path) -> None:
    append(catalog, "t", rows(1, 2))
    append(catalog, "t", rows(3))
    assert joined(files()) == [1, 2, 3]
    catalog.load_table("shop.t").overwrite(rows(7))
    assert len(list(tmp_path.glob("**/*.parquet"))) == 3
    assert joined(files()) == [7]


def test_a_folder_is_a_table_if_its_metadata_is_numbered(catalog: Any, tmp_path: Path) -> None:
    append(catalog, "t", rows(1, 2))
    folder = tmp_path / "shop" / "t"
    with pytest.raises(dv.StreamError, match=r"which metadata of table .*/t counts is known to its catalog; name it"):
        joined(dv.files(folder, format="iceberg"))
    as_hadoop_has_it(catalog, "t", folder)
    assert joined(dv.files(folder, format="iceberg")) == [1, 2]
    assert joined(dv.files(f"file://{folder}", format="iceberg")) == [1, 2]
    append(catalog, "t", rows(3))
    as_hadoop_has_it(catalog, "t", folder)
    assert joined(dv.files(folder, format="iceberg")) == [1, 2, 3]


def test_a_stream_is_what_is_appended(catalog: Any) -> None:
    append(catalog, "t", rows(1, 2))
    feed = FilesFeed(files(max_files=1), "ts", 0)
    first = feed.latest(feed.initial())
    append(catalog, "t", rows(3))
    second = feed.latest(first)
    assert [len(feed.pieces(*span)) for span in ((feed.initial(), first), (first, second))] == [1, 1]
    assert feed.latest(second) == second
    catalog.load_table("shop.t").delete("k = 1")
    with pytest.raises(dv.DataError, match=r"written anew since its first rows were read .*rows would come twice"):
        feed.latest(second)
    with pytest.raises(dv.DataError, match="written anew"):
        FilesFeed(files(), "ts", 0).pieces(second, feed.latest(None))


def test_a_stream_goes_on_in_another_process_over_expired_snapshots(catalog: Any) -> None:
    for value in (1, 2, 3):
        append(catalog, "t", rows(value))
    feed = FilesFeed(files(max_files=2), "ts", 0)
    first = feed.latest(feed.initial())
    table = catalog.load_table("shop.t")
    table.maintenance.expire_snapshots().by_ids([one.snapshot_id for one in table.snapshots()[:-1]]).commit()
    again = FilesFeed(files(max_files=2), "ts", 0)
    assert len(again.pieces(feed.initial(), first)) == 2
    assert len(again.pieces(first, again.latest(first))) == 1


def test_partitions_are_read_for_their_columns_are_in_the_files(catalog: Any) -> None:
    append(catalog, "t", rows(1, 2, 2), partitioned_by="k")
    assert joined(files()) == [1, 2, 2, 2, 2]


def test_columns_that_changed_their_names_are_refused(catalog: Any) -> None:
    append(catalog, "t", rows(1, 2))
    with catalog.load_table("shop.t").update_schema() as change:
        change.add_column("more", _text())
    assert joined(files()) == [1, 2]
    with catalog.load_table("shop.t").update_schema() as change:
        change.rename_column("k", "key")
    with pytest.raises(
        dv.StreamError, match=r"column 'k' of table .* was renamed or replaced; read it with spark.read"
    ):
        joined(files())


def test_tables_with_deletes_are_refused(catalog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No library in Python writes files of deletes, so one file of the table says that it is such a file."""
    from pyiceberg.manifest import ManifestContent, ManifestFile

    append(catalog, "t", rows(1, 2))
    monkeypatch.setattr(ManifestFile, "content", property(lambda _: ManifestContent.DELETES))
    with pytest.raises(dv.DataError, match=r"has rows that were deleted or changed; read it with spark.readStream"):
        FilesFeed(files(), "ts", 0).latest(None)


def test_a_table_that_is_not_there_is_named(catalog: Any) -> None:
    with pytest.raises(dv.DataError, match=r"no Iceberg table in folder shelf.shop.t, and no catalog 'shelf' that has"):
        FilesFeed(files(), "ts", 0).latest(None)
    with pytest.raises(dv.DataError, match=r"no catalog 'nowhere' that has 'shop.t': URI missing"):
        FilesFeed(dv.files("nowhere.shop.t", format="iceberg"), "ts", 0).latest(None)


def _text() -> Any:
    from pyiceberg.types import StringType

    return StringType()
