"""A snapshot: every slice and the header of an engine as bytes; nothing in it is ever executed.

    DOVETAIL | version | digest of the rest | JSON: query fingerprint, header, slice keys | Arrow IPC, one after another

The digest is checked before anything else is read.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from dovetail.engine.block.ipc import batch_from_bytes, batch_to_buffer
from dovetail.engine.buffer.section import Changes, Slices
from dovetail.errors import DovetailError, StateError

_MAGIC = b"DOVETAIL\x01"
_DIGEST = 16  # bytes: chance alone never makes two of them equal


def pack_snapshot(fingerprint: str, state: Changes) -> bytes:
    """Bytes that ``unpack_snapshot`` turns back, if the fingerprint is the same."""
    blobs = [batch_to_buffer(batch) for batch in state.new.values()]
    keys = [[section, number, len(blob)] for (section, number), blob in zip(state.new, blobs, strict=True)]
    head = json.dumps({"query": fingerprint, "header": state.header.decode(), "slices": keys}).encode()
    body = len(head).to_bytes(8, "little") + head + b"".join(blobs)
    return _MAGIC + blake2b(body, digest_size=_DIGEST).digest() + body


def unpack_snapshot(data: bytes, *fingerprints: str) -> Changes:
    """All of the state, to be applied; StateError if the bytes are damaged or belong to another query."""
    query, state = read_snapshot(data)
    if query not in fingerprints:
        raise StateError(
            "this snapshot belongs to another query: its streams, predicates, windows or select list differ. "
            "Go on with query.resume(snapshot, of=the query that made it), or start without a snapshot."
        )
    return state


def read_snapshot(data: bytes) -> tuple[str, Changes]:
    """The fingerprint of the query that wrote it, and all of the state; StateError if the bytes are damaged."""
    start = len(_MAGIC) + _DIGEST
    if not isinstance(data, bytes) or not data.startswith(_MAGIC[:-1]):
        raise StateError(
            "this is not a Dovetail snapshot; give the bytes that run.snapshot() returned. What a query has left in a "
            "checkpoint of Spark goes on with query.migrate(checkpoint, into=...)."
        )
    found = data[len(_MAGIC) - 1 : len(_MAGIC)]
    if found and found[0] != _MAGIC[-1]:
        raise StateError(
            f"this snapshot has format {found[0]}; this version of Dovetail reads format {_MAGIC[-1]}. Go on with the "
            "release that wrote it, or a newer one."
        )
    if blake2b(data[start:], digest_size=_DIGEST).digest() != data[len(_MAGIC) : start]:
        raise StateError("this snapshot is damaged: its contents do not match their digest. Use an earlier one.")
    with readable():
        return _read(data, start)


@contextmanager
def readable() -> Iterator[None]:
    """StateError instead of whatever goes wrong inside with contents that no engine wrote."""
    try:
        yield
    except (DovetailError, MemoryError):
        raise
    except Exception as error:
        raise StateError(
            f"this snapshot cannot be read, though it is whole ({type(error).__name__}: {error}). Use an earlier one."
        ) from error


def _read(data: bytes, start: int) -> tuple[str, Changes]:
    size = int.from_bytes(data[start : start + 8], "little")
    head = json.loads(data[start + 8 : start + 8 + size])
    slices: Slices = {}
    at = start + 8 + size
    for section, number, length in head["slices"]:
        slices[section, number] = batch_from_bytes(data[at : at + length])
        slices[section, number].validate(full=True)  # nothing is reached through offsets that point elsewhere
        at += length
    return head["query"], Changes(slices, [], head["header"].encode())
