"""Several operators in a chain: the results of one are a stream of the next, and so is how far it has come.

The next operator takes a stream's watermark to be its largest time less its delay, so every bucket ends its batch with
a row that has nothing but a time, ``frontier + delay``. It matches nothing (its expiry is NULL), and since results come
out of order by no more than the delay, it is what sets the watermark: to the frontier.
"""

from collections.abc import Iterator

import pyarrow as pa

from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL


def heartbeat(schema: pa.Schema, frontier: int, delay_us: int) -> Iterator[pa.RecordBatch]:
    """A row without values at the time that tells the next operator this one's frontier."""
    if BEFORE_ALL < frontier < AFTER_ALL:
        time = pa.array([frontier + delay_us], pa.int64()).cast(schema.field(0).type)
        nothing = [pa.nulls(1, field.type) for field in list(schema)[1:]]
        yield pa.RecordBatch.from_arrays([time, *nothing], schema=schema)
