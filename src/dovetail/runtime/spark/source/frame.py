"""Streams that Dovetail reads itself, as one DataFrame of packed rows."""

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dovetail.model.stream import Stream
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.metrics import PACKING
from dovetail.runtime.spark.pack import Packer
from dovetail.runtime.spark.packed import SHUFFLED
from dovetail.runtime.spark.session import planned_partitions
from dovetail.runtime.spark.source.source import NAME, PackedSource
from dovetail.runtime.spark.source.work import Input, options_of


def packed_frame(
    session: SparkSession,
    streams: Sequence[Stream],
    packers: Mapping[str, Packer],
    layouts: Layouts,
    run: str,
    splits: bool = False,
    windows: Mapping[str, int] | None = None,
) -> DataFrame:
    """What the packers of these streams make of their files; a table if the files are. ``splits``: if hot keys may.

    ``windows``: their lengths in microseconds, if rows that can have no partner need not be read.
    """
    own = {stream.name: packers[stream.name] for stream in streams}
    given = [(each.name, each.data, each.schema, own[each.name].arriving, each.time, each.delay_us) for each in streams]
    inputs = tuple(Input(*each, window_us=(windows or {}).get(each[0])) for each in given)
    session.dataSource.register(PackedSource)
    static = inputs[0].source.static
    reading = (session.read if static else session.readStream).format(NAME)
    packed = reading.options(**options_of(inputs, own, layouts, planned_partitions(session), splits)).load()
    for name, packer in own.items():
        spent = F.sum(F.when(F.col("stream") == packer.position, F.col("pack_us"))).alias("pack_us")
        packed = packed.observe(f"{PACKING}{packer.position}-{run}", spent, F.max(F.lit(name)).alias("stream"))
    return packed.select(*SHUFFLED)
