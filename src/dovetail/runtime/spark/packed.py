"""The rows that packers make and the operator takes: a blob of one stream's rows for one bucket, and a heartbeat."""

import pyarrow as pa

PACKED = pa.schema(
    {
        "bucket": pa.int32(),
        "stream": pa.int32(),
        "partition": pa.int32(),
        "sequence": pa.int32(),
        "newest": pa.int64(),
        "spans": pa.binary(),
        "rows": pa.int64(),
        "null_times": pa.int64(),
        "filtered": pa.int64(),
        "loads": pa.binary(),
        "blob": pa.binary(),
        "file": pa.string(),
        "pack_us": pa.int64(),
    }
)
SHUFFLED = PACKED.names[:-1]
NO_STREAM, CHANGE = -1, -2  # in the place of a stream: the clock, and another set of queries
