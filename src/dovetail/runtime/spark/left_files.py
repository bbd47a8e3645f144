"""What stays on this machine: files that one worker leaves and another maps; Spark carries their names.

    through Spark     packer -> socket -> Java's row -> shuffle file -> Java's row -> Arrow -> socket -> operator
    left in a file    packer -> file, in the system's memory if there is room -> operator

For sessions whose tasks all run in the driver's process (``local[4]``), and for what is large enough to be worth it.
The files lie where Spark has those of its shuffles, and are removed with them when the session ends, and by the parent
of its workers when its Java process is killed. A batch is the last that reads its own, so the first task of the next
one removes them. Attempts at a task give them the same names, so that what Spark carries depends on the rows alone.

Buckets under a CPU budget leave what they have learned about the streams there, each in a file that the others read
in the next batch.

A bucket that changes its worker finds there what the last batches have written to its state, under their tokens. A
token is made from what was written, so a file has what the state has, or is not looked for.
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import SparkSession

from dovetail.runtime.spark.lineage import Lineage
from dovetail.runtime.spark.streaming_run import batch_number, query_id

KEPT = 4  # batches of a bucket; who is further behind asks Spark for what it lacks
LEAST_BYTES = 256 << 10  # of one bucket's rows; fewer are through Spark as soon


def shares_files(session: SparkSession) -> bool:
    """Whether every task of a session sees the same folder; not where nobody tells (Spark Connect)."""
    try:
        master = str(session.sparkContext.master)
    except Exception:
        return False
    return master == "local" or master.startswith("local[")


def left_folder() -> Path | None:
    """Where processes of a session leave files; None if Spark does not say where its own are."""
    place = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return Path(place, "dovetail") if os.path.isdir(place) else None


def batch_folder() -> Path | None:
    """Where tasks of this batch leave files; None if there is no batch, or no such folder."""
    number, root = batch_number(), left_folder()
    if number is None or root is None:
        return None
    folder = root / query_id() / "rows" / str(number)
    if not folder.is_dir():
        with suppress(OSError):  # another task does the same
            for old in folder.parent.iterdir():
                if old != folder:
                    shutil.rmtree(old, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def leave(rows: pa.RecordBatch, path: Path) -> str:
    """Rows in a file, columns named by position; what another attempt has left there stays for who reads it."""
    written = path.with_name(uuid4().hex)
    named = rows.rename_columns([f"c{at}" for at in range(rows.num_columns)])
    with pa.OSFile(str(written), "wb") as file, pa.ipc.new_stream(file, named.schema) as writer:
        writer.write_batch(named)
    return str(written.replace(path))


def mapped(path: str, names: Sequence[str]) -> list[pa.RecordBatch]:
    """The rows of a file that was left, not copied."""
    with pa.memory_map(path) as file, pa.ipc.open_stream(file) as reader:
        return [batch.rename_columns(list(names)) for batch in reader]


class LeftSlices:
    """The slices that the last batches of a query have written, each batch of a bucket in a file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def here(cls) -> "LeftSlices | None":
        """Those of the query that this task belongs to; None if there is no such folder."""
        root = left_folder()
        return cls(root / query_id() / "slices") if query_id() and root is not None else None

    def leave(self, token: str, blobs: Sequence[bytes], before: Lineage) -> None:
        """What the batch of this token has written; what was left long before is removed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        leave(pa.record_batch({"blob": pa.array(blobs, pa.large_binary())}), self._file(token))
        if len(before.steps) >= KEPT:
            self._file(before.steps[-KEPT].before).unlink(missing_ok=True)

    def found(self, token: str) -> list[pa.Buffer]:
        """What the batch of this token has written, not copied; nothing if it left nothing here."""
        try:
            (left,) = mapped(str(self._file(token)), ["blob"])
        except FileNotFoundError:
            return []
        return [blob.as_buffer() for blob in left.column(0)]

    def _file(self, token: str) -> Path:
        return self._folder / f"at-{token}"


class LeftLearned:
    """What the buckets of an operator have learned about its streams, each the last that it left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def here(cls, run: str) -> "LeftLearned | None":
        """Those of an operator of the query that this task belongs to; None if there is no such folder."""
        root = left_folder()
        return cls(root / query_id() / "learned" / run) if query_id() and root is not None else None

    def leave(self, bucket: int, learned: Mapping[str, Any]) -> None:
        """In place of what the bucket has left before."""
        self._folder.mkdir(parents=True, exist_ok=True)
        written = self._folder / f".{uuid4().hex}"
        written.write_text(json.dumps(learned))
        written.replace(self._folder / str(bucket))

    def by_others(self, bucket: int) -> list[dict[str, Any]]:
        """What all other buckets have left."""
        files = sorted(self._folder.glob("[!.]*")) if self._folder.is_dir() else []
        return [json.loads(file.read_text()) for file in files if file.name != str(bucket)]
