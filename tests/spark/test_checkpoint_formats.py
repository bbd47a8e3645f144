"""A checkpoint that an older version wrote is gone on from: rows before and after together are those of one run."""

import re
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail.testing import assert_same_rows, ordered
from tests.formats.checkpoints import joined, run, tables, write
from tests.formats.queries import AFTER, BEFORE

pytestmark = pytest.mark.spark

FILES = sorted((Path(__file__).parents[1] / "formats").glob("checkpoint_*.tar.gz"))


def moved(folder: Path) -> None:
    """What Spark has noted under its full name is in this folder now, whatever that was called."""
    checkpoint = folder / "checkpoint"
    for log in (*checkpoint.glob("sources/*/[0-9]*"), *checkpoint.glob("state/*/_metadata/*/[0-9]*")):
        log.write_text(re.sub(r"(file:/+)[^\"]*?/(in|checkpoint)/", rf"\1{str(folder)[1:]}/\2/", log.read_text()))
        log.with_name(f".{log.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("packed", FILES, ids=lambda path: path.name)
def test_a_checkpoint_is_gone_on_from(spark: Any, tmp_path: Path, packed: Path) -> None:
    with tarfile.open(packed) as file:
        file.extractall(tmp_path, filter="data")
    moved(tmp_path)
    for seconds in (BEFORE, AFTER):
        write(tmp_path / "in", seconds)
    run(spark, tmp_path / "in", tmp_path / "checkpoint", tmp_path / "out")
    rows = pq.read_table(tmp_path / "out")
    times = {name: table["ts"] for name, table in tables(AFTER).items()}
    embedded = joined({name: {"schema": tables(BEFORE)[name].schema} for name in times}).local()
    for name, table in tables(BEFORE).items():
        embedded.push(name, table)
    expected = pa.concat_tables([embedded.push(name, table) for name, table in tables(AFTER).items()])
    assert expected.num_rows > 100
    assert_same_rows(rows.cast(expected.schema), expected)
    assert ordered(expected)
