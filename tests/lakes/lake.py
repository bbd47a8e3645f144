"""Two tables of a lake joined into a third, in each of the formats.

As a process, python -m tests.lakes.lake FORMAT FOLDER, it takes what the tables hold and ends; started again it goes on
from its checkpoint. With "dovetail" no connector of Spark's is used: A and the output are Delta tables, B is an Iceberg
table in a folder, and Dovetail reads and writes their logs.
"""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

import dovetail as dv
from dovetail.runtime.spark.differences.version import spark_version
from dovetail.testing import Push
from tests.lakes.iceberg import append, as_hadoop_has_it, catalog_at
from tests.lakes.session import lake_session
from tests.spark.queries import SCHEMA, build

ON, NOW = "A.k = B.k", {"availableNow": True}


class Lake:
    """The tables A, B and out, and the checkpoint of the query between them."""

    def __init__(self, spark: Any, format: str, folder: Path) -> None:
        self.spark, self.format, self.folder = spark, format, folder

    def name(self, table: str) -> str:
        """What the table is called in its format: Iceberg's are in a folder of the catalog's warehouse."""
        return f"lake.{self.folder.name}.{table}" if self.format == "iceberg" else str(self.folder / table)

    def append(self, batches: list[Push]) -> None:
        """One commit for each batch and stream."""
        for batch in batches:
            for name in "AB":
                rows = batch.batch.get(name, SCHEMA.empty_table())
                if self.format == "dovetail":
                    self._append_alone(name, rows)
                    continue
                writer = self.spark.createDataFrame(rows).coalesce(1)
                if self.format == "delta":
                    writer.write.format("delta").mode("append").save(self.name(name))
                elif self.spark.catalog.tableExists(self.name(name)):
                    writer.writeTo(self.name(name)).append()
                else:
                    writer.writeTo(self.name(name)).create()

    def _append_alone(self, name: str, rows: pa.Table) -> None:
        if name == "A":
            import deltalake

            deltalake.write_deltalake(self.name(name), rows, mode="append")
        else:
            self.folder.mkdir(exist_ok=True)
            catalog = catalog_at(self.folder)
            append(catalog, name, rows)
            as_hadoop_has_it(catalog, name, self.folder / "shop" / name)

    def query(self) -> dv.Query:
        """A few files at a time."""
        if self.format == "dovetail":
            table = dv.files(self.folder / "shop" / "B", format="iceberg", max_files=1)
            return build(ON, {"A": dv.files(self.name("A"), max_files=1), "B": table})
        limit = "maxFilesPerTrigger" if self.format == "delta" else "streaming-max-files-per-micro-batch"
        reader = self.spark.readStream.format(self.format).option(limit, 1)
        return build(ON, {name: reader.load(self.name(name)) for name in "AB"})

    def run(self) -> None:
        """Everything there is, from the checkpoint if there is one."""
        checkpoint = str(self.folder / "checkpoint")
        if self.format == "dovetail":
            for _ in range(1 if spark_version(self.spark.version) >= (4, 2) else 4):  # before 4.2 a run is one batch
                started = self.query().write(dv.delta(self.name("out")), checkpoint, trigger=NOW, session=self.spark)
                started.awaitTermination()
        else:
            frame = self.query().spark()
            writer = frame.writeStream.format(self.format).outputMode("append").option("checkpointLocation", checkpoint)
            writer = writer.trigger(availableNow=True)
            started = writer.start(self.name("out")) if self.format == "delta" else writer.toTable(self.name("out"))
        started.awaitTermination()

    def rows(self) -> pa.Table:
        """What a reader of the output finds."""
        if self.format == "dovetail":
            import deltalake

            return pa.table(deltalake.DeltaTable(self.name("out")).to_pyarrow_table())
        found: pa.Table = self.spark.read.format(self.format).load(self.name("out")).toArrow()
        return found


if __name__ == "__main__":
    given, place = sys.argv[1], Path(sys.argv[2])
    session = lake_session(place.parent)
    Lake(session, given, place).run()
    session.stop()
