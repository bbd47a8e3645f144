"""What a task reads of one stream, decoded."""

from collections.abc import Iterator

import pyarrow as pa

from dovetail.model.files import Files
from dovetail.model.nested import tops, with_extracted
from dovetail.runtime.files.decode import decoded
from dovetail.runtime.files.feed import Piece
from dovetail.runtime.kafka.client import Topic
from dovetail.runtime.kafka.feed import Messages
from dovetail.runtime.kafka.values import columns_of
from dovetail.runtime.spark.source.tasks import Part
from dovetail.runtime.spark.source.work import Input


def read_part(given: Input, part: Part) -> Iterator[pa.RecordBatch]:
    """The wanted columns of some files, or of some messages."""
    if isinstance(given.source, Files):
        for piece in part.pieces:
            assert isinstance(piece, Piece)
            yield from decoded(given.source, piece.file, given.schema, given.columns, piece.groups)
        return
    schema, columns = given.schema, given.columns
    topic, wanted = Topic(given.source), pa.schema([schema.field(name) for name in tops(schema, columns)])
    try:
        for each in part.pieces:
            assert isinstance(each, Messages)
            for values in topic.values(each.partition, each.first, each.last):
                if values:
                    found = columns_of(given.source, values, wanted)
                    yield from with_extracted(found, schema, columns).to_batches()
    finally:
        topic.close()
