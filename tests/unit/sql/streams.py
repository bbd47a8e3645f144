"""Three streams with a column of every kind, shared by the tests of the language."""

import pyarrow as pa

from dovetail.model.stream import Stream

SCHEMA = pa.schema(
    {
        "location": pa.string(),
        "value": pa.float64(),
        "n": pa.int64(),
        "small": pa.int32(),
        "u": pa.uint64(),
        "single": pa.float32(),
        "ts": pa.timestamp("us"),
        "day": pa.date32(),
        "ok": pa.bool_(),
        "v": pa.list_(pa.float32()),
        "price": pa.decimal128(10, 2),
        "code": pa.dictionary(pa.int32(), pa.string()),
        "odd name": pa.int64(),
    }
)
T = Stream("T", SCHEMA, "ts")
H = Stream("H", SCHEMA.append(pa.field("only", pa.int16())).append(pa.field("tz", pa.timestamp("ms", "UTC"))), "ts")
K = Stream("K", SCHEMA, "ts")
STREAMS = (T, H, K)
