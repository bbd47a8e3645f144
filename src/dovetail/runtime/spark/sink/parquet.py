"""Parquet files of a batch: written aside by tasks, moved into place by the commit.

    out/_writing/5f3a.parquet          by a task; nobody else sees it
    out/batch=7/part-00000.parquet     once the batch is done
    out/_writer                        whose results these are

A file's place is named by the batch and the number of the task. A batch that is repeated, because the driver died
before Spark took note of it, makes the same files once more, and replaces what is there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from dovetail.errors import StateError
from dovetail.model.sinks import Parquet
from dovetail.runtime.files.listing import filesystem
from dovetail.runtime.spark.blob import in_pieces

_GROUP_BYTES = 32 << 20  # row groups that readers can skip
_OWNER = "_writer"


@dataclass(frozen=True)
class Written:
    """A file that waits for its commit: where it is, the task that wrote it, and the query it belongs to."""

    name: str
    task: int
    query: str


@dataclass(frozen=True)
class ParquetFolder:
    """What is done to one folder; a value that travels to the tasks. Files that wait are in ``aside`` of it."""

    sink: Parquet
    aside: str = "_writing"

    def write(self, batches: Iterable[pa.RecordBatch], task: int, query: str) -> Written | None:
        """The rows of one task, if there are any, in a file that nobody sees yet."""
        writer, name = None, f"{uuid4().hex}.parquet"
        store, folder = filesystem(self.sink.path)
        for piece in in_pieces(batches, _GROUP_BYTES):
            table = pa.Table.from_batches(piece)
            if writer is None:
                store.create_dir(f"{folder}/{self.aside}")
                texts = [field.name for field in table.schema if not pa.types.is_primitive(field.type)]
                whole = [field.name for field in table.schema if _is_whole(field.type)]
                writer = pq.ParquetWriter(
                    f"{folder}/{self.aside}/{name}",
                    table.schema,
                    filesystem=store,
                    compression=self.sink.compression,
                    use_dictionary=texts,
                    column_encoding=dict.fromkeys(whole, "DELTA_BINARY_PACKED"),  # smaller, and sooner compressed
                )
            writer.write_table(table, row_group_size=table.num_rows)
        if writer is None:
            return None
        writer.close()
        return Written(name, task, query)

    def read(self, written: Written) -> Iterator[pa.Table]:
        """The rows of a file that waits, piece by piece."""
        store, folder = filesystem(self.sink.path)
        with store.open_input_file(f"{folder}/{self.aside}/{written.name}") as file:
            parquet = pq.ParquetFile(file)
            for number in range(parquet.num_row_groups):
                yield parquet.read_row_group(number)

    def commit(self, written: Sequence[Written], batch: int) -> None:
        """Have the files of a batch in their place, and no others."""
        store, folder = filesystem(self.sink.path)
        place = f"{folder}/batch={batch}"
        if written:
            self._check_owner(store, folder, written[0].query, batch)
            store.create_dir(place)
        wanted = {f"{place}/part-{each.task:05}.parquet": f"{folder}/{self.aside}/{each.name}" for each in written}
        for info in store.get_file_info(pafs.FileSelector(place, allow_not_found=True)):
            if info.path not in wanted:
                store.delete_file(info.path)
        for target, source in wanted.items():
            store.move(source, target)

    def abort(self, written: Sequence[Written]) -> None:
        """Remove what was written in vain."""
        store, folder = filesystem(self.sink.path)
        for each in written:
            if store.get_file_info([f"{folder}/{self.aside}/{each.name}"])[0].is_file:
                store.delete_file(f"{folder}/{self.aside}/{each.name}")

    def tidy(self) -> None:
        """Remove what killed tasks have left behind; before a query starts."""
        store, folder = filesystem(self.sink.path)
        if store.get_file_info([f"{folder}/{self.aside}"])[0].type == pafs.FileType.Directory:
            store.delete_dir(f"{folder}/{self.aside}")

    def _check_owner(self, store: pafs.FileSystem, folder: str, query: str, batch: int) -> None:
        """A folder holds the results of one checkpoint: those of another would replace them batch by batch."""
        owner = f"{folder}/{_OWNER}"
        if not store.get_file_info([owner])[0].is_file:
            with store.open_output_stream(owner) as file:
                file.write(query.encode())
            return
        with store.open_input_stream(owner) as file:
            known = file.read().decode()
        if known != query:
            raise StateError(
                f"folder {self.sink.path} holds results of another checkpoint, and batch {batch} would replace some of "
                "them; give a folder of its own, or remove this one"
            )


def _is_whole(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_signed_integer, pa.types.is_timestamp, pa.types.is_date))
