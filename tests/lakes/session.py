"""A session with the connectors of Delta and Iceberg that this version of Spark has: make test-lakes gets them."""

import os
from pathlib import Path
from typing import Any

from dovetail.runtime.spark.session import spark_session

JARS = sorted(Path(os.environ.get("LAKE_JARS", "")).glob("*.jar")) if "LAKE_JARS" in os.environ else []
DELTA, ICEBERG = (any(name in jar.name for jar in JARS) for name in ("delta-spark", "iceberg-spark"))
EXTENSIONS = {
    "io.delta.sql.DeltaSparkSessionExtension": DELTA,
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions": ICEBERG,
}


def lake_session(warehouse: Path) -> Any:
    """As docs/how-to/lakes.md says; Iceberg's tables are in the catalog ``lake``, as files below the warehouse."""
    settings = {
        "spark.jars": ",".join(map(str, JARS)),
        "spark.sql.extensions": ",".join(name for name, there in EXTENSIONS.items() if there),
    }
    if DELTA:
        settings["spark.sql.catalog.spark_catalog"] = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        settings["spark.databricks.delta.snapshotPartitions"] = "2"  # not 50, the tasks of each look at a log
    if ICEBERG:
        settings |= {
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": str(warehouse),
        }
    return spark_session(cores=2, name="lakes", settings={name: value for name, value in settings.items() if value})
