"""Results in a Delta table: tasks write the files, and the commit enters them into the table's log.

    out/data/5f3a.parquet          by a task; nobody sees it, for the log does not name it
    out/_delta_log/...0007.json    the files of a batch, and {"txn": {"appId": <the query>, "version": <the batch>}}

A batch that is repeated finds its number in the log and adds nothing. If another driver of the same query still lives,
the log takes the batch from one of them only. What killed tasks have left behind goes with the table's next VACUUM.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dovetail.errors import DataError, QueryError
from dovetail.model.sinks import Delta, Parquet
from dovetail.runtime.files.delta import delta_library
from dovetail.runtime.files.listing import filesystem
from dovetail.runtime.spark.sink.parquet import ParquetFolder, Written

_DATA = "data"


@dataclass(frozen=True)
class DeltaTable:
    """What is done to one table; a value that travels to the tasks. ``schema`` is that of its files."""

    sink: Delta
    schema: pa.Schema

    @classmethod
    def of(cls, sink: Delta, results: pa.Schema) -> "DeltaTable":
        """The table that takes such results; an error if Delta has no type for a column, or the library is missing."""
        schema, lake = pa.schema([(field.name, _type(field)) for field in results]), delta_library()
        try:
            lake.Schema.from_arrow(schema)
        except Exception as error:  # the library raises nothing more special
            raise QueryError(f"delta({sink.path!r}): {str(error).splitlines()[0]}") from error
        return cls(sink, schema)

    @property
    def _files(self) -> ParquetFolder:
        return ParquetFolder(Parquet(self.sink.path), _DATA)

    def write(self, batches: Iterable[pa.RecordBatch], task: int, query: str) -> Written | None:
        """The rows of one task, if there are any, in a file that the log does not name yet."""
        return self._files.write((batch.cast(self.schema) for batch in batches), task, query)

    def commit(self, written: Sequence[Written], batch: int) -> None:
        """Enter the files of a batch into the log, unless it is there already."""
        if not written:
            return
        lake, query = delta_library(), written[0].query
        table = lake.DeltaTable(self._uri) if lake.DeltaTable.is_deltatable(self._uri) else None
        done = table.transaction_version(query) if table is not None else None
        if done is not None and done >= batch:
            self.abort(written)
            return
        entry = lake.CommitProperties(app_transactions=[lake.Transaction(query, batch)])
        files = [self._added(each) for each in sorted(written, key=lambda each: each.task)]
        schema = lake.Schema.from_arrow(self.schema)
        if table is None:
            lake.transaction.create_table_with_add_actions(self._uri, schema, files, commit_properties=entry)
        elif [(each.name, each.type) for each in table.schema().fields] != [(e.name, e.type) for e in schema.fields]:
            raise DataError(f"table {self.sink.path} has {table.schema()}, and results have {schema}")
        else:
            table.create_write_transaction(files, "append", schema, commit_properties=entry)

    def abort(self, written: Sequence[Written]) -> None:
        """Remove what was written in vain."""
        self._files.abort(written)

    def tidy(self) -> None:
        """Nothing: files that no log names are VACUUM's."""

    @property
    def _uri(self) -> str:
        return self.sink.path if "://" in self.sink.path else filesystem(self.sink.path)[1]

    def _added(self, written: Written) -> Any:
        store, folder = filesystem(self.sink.path)
        path = f"{_DATA}/{written.name}"
        (info,) = store.get_file_info([f"{folder}/{path}"])
        rows = pq.read_metadata(info.path, filesystem=store).num_rows
        changed = (info.mtime_ns or 0) // 1_000_000
        return delta_library().transaction.AddAction(path, info.size, {}, changed, True, f'{{"numRecords": {rows}}}')


def _type(field: pa.Field) -> pa.DataType:
    """The type of a column in files that all readers of Delta tables know."""
    if pa.types.is_timestamp(field.type):
        return pa.timestamp("us", "UTC" if field.type.tz else None)
    if pa.types.is_unsigned_integer(field.type):
        raise QueryError(f"delta: column {field.name!r} is {field.type}, and Delta has no unsigned numbers; cast it")
    return field.type
