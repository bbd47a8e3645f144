"""Record batches as Arrow IPC bytes, and back."""

import pyarrow as pa


def batch_to_buffer(batch: pa.RecordBatch) -> pa.Buffer:
    """One record batch with its schema as Arrow IPC."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def batch_from_bytes(data: bytes | pa.Buffer) -> pa.RecordBatch:
    """The inverse of ``batch_to_buffer``."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()
