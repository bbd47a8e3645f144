"""A checkpoint of one query made into that of another, which goes on exactly where the first was stopped.

    metadata, sources     as they were: the same streaming query, the same files read, the same first offsets
    offsets, commits      of the last batch: the next has the number that it would have had, and reads what comes next
    state                 taken as a snapshot, carried over, and dealt out to the new query's buckets

The state is written by Spark: a pipeline like the new query's takes the snapshot as its initial state in a batch
without rows. That is batch 0 of a folder aside; its state is then called that of the last batch, and is read back
through Spark's reader of state and compared before anything is put in place. Nothing in the old checkpoint is changed.

A sink knows a checkpoint by its query's id and by the numbers of its batches, so it goes on as well.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from dovetail.engine.buffer.section import SliceKey, Slices
from dovetail.engine.operator.snapshot import unpack_snapshot
from dovetail.errors import StateError
from dovetail.model.fingerprint import fingerprint
from dovetail.model.sources import Source
from dovetail.plan.physical import Plan
from dovetail.runtime.files.listing import filesystem
from dovetail.runtime.spark.clock import needs_clock
from dovetail.runtime.spark.layout import Layout
from dovetail.runtime.spark.packed import PACKED, SHUFFLED
from dovetail.runtime.spark.pipeline import begins_with, session_of, spark_snapshot
from dovetail.runtime.spark.read_state import read_state
from dovetail.runtime.spark.source.source import HOT
from dovetail.runtime.spark.types import spark_schema

_LOG = "v1"  # the only format of these logs that Spark 4 writes by itself
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_TIMES = ("batchWatermarkMs", "batchTimestampMs")
_CLOCK = "0"  # the offset of a clock that has not ticked


@dataclass(frozen=True)
class Folder:
    """A checkpoint's files, wherever they are."""

    store: pafs.FileSystem
    path: str

    @classmethod
    def at(cls, path: str) -> "Folder":
        return cls(*filesystem(path.rstrip("/")))

    def exists(self) -> bool:
        return bool(self.store.get_file_info(self.path).type != pafs.FileType.NotFound)

    def names(self, below: str) -> list[str]:
        """What is directly in a folder of it, without the checksums that Hadoop keeps beside local files."""
        infos = self.store.get_file_info(pafs.FileSelector(f"{self.path}/{below}", allow_not_found=True))
        return sorted(info.base_name for info in infos if not info.base_name.startswith("."))

    def numbers(self, log: str) -> list[int]:
        return sorted(int(name) for name in self.names(log) if name.isdigit())

    def lines(self, name: str, form: str = _LOG) -> list[str]:
        """What one of Spark's own files says, without the first line, which is its format."""
        with self.store.open_input_stream(f"{self.path}/{name}") as file:
            version, *lines = bytes(file.read()).decode().splitlines()
        if version != form:
            raise StateError(f"{self.path}/{name} has format {version!r}, and only {form!r} can be migrated")
        return lines

    def write(self, name: str, lines: Sequence[str], form: str = _LOG) -> None:
        with self.store.open_output_stream(f"{self.path}/{name}") as file:
            file.write("\n".join([form, *lines]).encode())

    def remove(self, *names: str) -> None:
        for name in names:
            self.store.delete_dir(f"{self.path}/{name}")


@dataclass(frozen=True)
class Stopped:
    """Where the query of a checkpoint was stopped: the last batch that is done, and whether another was planned."""

    batch: int
    planned: bool

    @classmethod
    def of(cls, checkpoint: Folder) -> "Stopped":
        done, planned = checkpoint.numbers("commits"), checkpoint.numbers("offsets")
        if not done or not planned or planned[-1] - done[-1] not in (0, 1):
            raise StateError(f"{checkpoint.path} has no batch that is done, so there is nothing to go on from")
        return cls(done[-1], planned[-1] > done[-1])


def migrate(
    old: Plan,
    new: Plan,
    checkpoint: str,
    into: str,
    carry: Callable[[bytes], bytes],
    session: SparkSession | None = None,
) -> bytes:
    """Write the checkpoint of ``new`` that goes on from one of ``old``; returns its state, which ``carry`` makes.

    ``carry`` turns a snapshot of the old query into one of the new.
    """
    session, checkpoint, into = session or session_of(new.query), str(checkpoint), str(into)
    if Folder.at(into).exists():
        raise StateError(f"{into} exists; a checkpoint is migrated into a folder that does not")
    table = next((stream.name for stream in new.query.streams if _is_table(stream.data)), None)
    if table is not None:
        raise StateError(f"stream {table!r} is a table; a query with one goes on only from its own checkpoint")
    source = Folder.at(checkpoint)
    stopped = Stopped.of(source)
    if stopped.planned and fingerprint(old.query) != fingerprint(new.query):
        raise StateError(
            f"the query of {checkpoint} was stopped in the middle of batch {stopped.batch + 1}, and nobody can say "
            "which of its results a sink has already. Start it once more with trigger(availableNow=True), then migrate"
        )
    carried = carry(spark_snapshot(old, checkpoint, session))
    aside = _aside(into)
    frame, layout, parts = begins_with(new, session, carried, _nothing(session, aside))
    _seed(session, frame, aside)
    _put_together(source, Folder.at(f"{aside}/made"), stopped, (needs_clock(old.query), needs_clock(new.query)))
    _check_state(session, f"{aside}/made", layout, parts)
    _put_in_place(aside, into)
    return carried


def _is_table(data: Any) -> bool:
    return data.static if isinstance(data, Source) else data is not None and not getattr(data, "isStreaming", False)


def _nothing(session: SparkSession, aside: str) -> DataFrame:
    """A stream of packed rows that has none, in one batch."""
    folder = Folder.at(f"{aside}/nothing")
    folder.store.create_dir(folder.path)
    pq.write_table(PACKED.empty_table(), f"{folder.path}/0.parquet", filesystem=folder.store)
    return session.readStream.schema(spark_schema(PACKED)).parquet(f"{aside}/nothing").select(*SHUFFLED)


def _seed(session: SparkSession, frame: DataFrame, aside: str) -> None:
    """Have Spark write the state of a pipeline that only begins, whole and not as changes."""
    before = session.conf.get(_CHANGELOG, None)
    session.conf.set(_CHANGELOG, "false")
    try:
        writing = frame.writeStream.format("noop").option("checkpointLocation", f"{aside}/made")
        writing.trigger(availableNow=True).start().awaitTermination()
    finally:
        session.conf.set(_CHANGELOG, before) if before is not None else session.conf.unset(_CHANGELOG)


def _put_together(old: Folder, made: Folder, stopped: Stopped, clocks: tuple[bool, bool]) -> None:
    """Make what Spark wrote aside a checkpoint that goes on after the last batch of the old one."""
    conf, commit = json.loads(made.lines("offsets/0")[0]), json.loads(made.lines("commits/0")[0])
    made.remove("offsets", "commits", "sources")
    for log in ("offsets", "commits"):
        made.store.create_dir(f"{made.path}/{log}")
    for batch in range(max(0, stopped.batch - 1), stopped.batch + 1 + stopped.planned):  # Spark reads the one before
        made.write(f"offsets/{batch}", _offsets(old.lines(f"offsets/{batch}"), conf, clocks))
    mark = json.loads(old.lines(f"commits/{stopped.batch}")[0])["nextBatchWatermarkMs"]
    made.write(f"commits/{stopped.batch}", [json.dumps(commit | {"nextBatchWatermarkMs": mark})])
    for name in old.names(""):
        if name not in ("offsets", "commits", "state"):
            _copy(old, made, name)
    _number_states(made, stopped.batch + 1)


def _offsets(lines: Sequence[str], conf: Mapping[str, Any], clocks: tuple[bool, bool]) -> list[str]:
    """The positions of a batch, under the settings of the new state; the clock, the last source, may come or go."""
    head = dict(conf) | {name: json.loads(lines[0])[name] for name in _TIMES}
    had, has = clocks
    sources = [_unsplit(line) for line in lines[1 : -1 if had and not has else None]]
    return [json.dumps(head), *sources, *([_CLOCK] if has and not had else [])]


def _unsplit(position: str) -> str:
    """A position without hot keys: the state was dealt out anew, each key to its own cell."""
    told = json.loads(position) if position.startswith("{") else None
    return json.dumps(told | {HOT: told[HOT] | {"keys": []}}) if told and HOT in told else position


def _copy(old: Folder, made: Folder, name: str) -> None:
    source, target = f"{old.path}/{name}", f"{made.path}/{name}"
    if old.store.get_file_info(source).is_file:
        made.store.delete_file(target) if made.store.get_file_info(target).is_file else None
        _drop_checksum(made, "", name)
        pafs.copy_files(source, target, source_filesystem=old.store, destination_filesystem=made.store)
        return
    made.store.create_dir(target)
    for each in old.names(name):
        _copy(old, made, f"{name}/{each}")


def _number_states(made: Folder, version: int) -> None:
    """Call the first version of every partition's state by the number that the next batch asks for."""
    for operator in made.names("state"):
        for partition in [name for name in made.names(f"state/{operator}") if name.isdigit()]:
            place = f"state/{operator}/{partition}"
            for name in made.names(place):
                number, dot, rest = name.partition(".")
                if number.isdigit():
                    _drop_checksum(made, place, name)
                    moved = f"{made.path}/{place}/{version if number == '1' else number}{dot}{rest}"
                    made.store.move(f"{made.path}/{place}/{name}", moved)


def _drop_checksum(folder: Folder, place: str, name: str) -> None:
    path = "/".join(part for part in (folder.path, place, f".{name}.crc") if part)
    if folder.store.get_file_info(path).is_file:
        folder.store.delete_file(path)


def _check_state(session: SparkSession, checkpoint: str, layout: Layout, parts: Sequence[bytes]) -> None:
    """StateError unless Spark finds in a checkpoint, as that of its last batch, what every bucket was to begin with."""
    (buckets,) = read_state(session, checkpoint)
    wanted = {number: unpack_snapshot(part, str(layout)) for number, part in zip(layout.numbers, parts, strict=True)}
    alike = buckets.keys() == wanted.keys() and all(
        buckets[number].changes.header == state.header and _rows(buckets[number].changes.new) == _rows(state.new)
        for number, state in wanted.items()
    )
    if not alike:
        raise StateError(f"the state that was written to {checkpoint} is not read back as it was; nothing was migrated")


def _rows(slices: Slices) -> dict[SliceKey, int]:
    """How many rows each slice has; that they are the ones that were written is known by their checksums."""
    return {key: rows.num_rows for key, rows in slices.items()}


def _put_in_place(aside: str, into: str) -> None:
    """The finished checkpoint where it is wanted, all at once where a folder can be renamed."""
    made, target = Folder.at(f"{aside}/made"), Folder.at(into)
    _name_schemas(made, target.path)
    try:
        made.store.move(made.path, target.path)
    except (OSError, NotImplementedError):
        made.store.create_dir(target.path)
        for name in sorted(made.names(""), key=lambda each: each == "offsets"):  # without offsets it cannot be started
            _copy(made, target, name)
    made.store.delete_dir(Folder.at(aside).path)


def _name_schemas(made: Folder, path: str) -> None:
    """What Spark notes about an operator has the whole paths of its schemas: let them be where they will be."""
    for operator in made.names("state"):
        place = f"state/{operator}/_metadata/v2"
        for name in made.names(place):
            noted = [line.replace(made.path, path) for line in made.lines(f"{place}/{name}", "v2")]
            _drop_checksum(made, place, name)
            made.write(f"{place}/{name}", noted, "v2")


def _aside(into: str) -> str:
    """Where a checkpoint is made before it is put in place; what an attempt before has left is removed."""
    aside = Folder.at(f"{into.rstrip('/')}.migrating")
    if aside.exists():
        aside.store.delete_dir(aside.path)
    aside.store.create_dir(aside.path)
    return f"{into.rstrip('/')}.migrating"
