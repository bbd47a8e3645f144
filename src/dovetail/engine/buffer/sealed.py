"""Bytes that carry a checksum: what was changed on a disk is noticed before anything is read from it.

    DVC | version | CRC-32 of the name and the rest | the rest

The name says where the bytes belong, so that two slices in each other's place are noticed as well. What was written
before there were checksums is known by how it begins; its rows are validated in full.
"""

from zlib import crc32

import pyarrow as pa

from dovetail.engine.block.ipc import batch_from_bytes, batch_to_buffer
from dovetail.errors import StateError

_MARK = b"DVC\x01"
_START = len(_MARK) + 4  # behind the mark and its checksum of four bytes
_ARROW, _JSON = b"\xff\xff\xff\xff", b"{"  # how rows and headers begin that have no checksum


def seal(body: bytes | pa.Buffer, name: str, also: str = "") -> bytes:
    """The bytes behind their checksum, which covers ``also`` what is kept beside them.

    >>> unseal(seal(b"{}", "the head"), "the head").to_pybytes()
    b'{}'
    """
    return b"".join((_MARK, _checksum(body, name + also), body))


def checksum_of(sealed: bytes) -> int:
    """The checksum that sealed bytes carry."""
    return int.from_bytes(sealed[len(_MARK) : _START], "little")


def unseal(data: bytes | pa.Buffer, name: str, also: str = "") -> pa.Buffer:
    """What was sealed under this name, not copied; StateError if it is not as it was."""
    whole = pa.py_buffer(data)
    if not _is_sealed(whole):
        return whole
    number = bytes(whole[3:4])
    if bytes(whole[:3]) == _MARK[:3] and number > _MARK[3:]:
        raise StateError(
            f"{name} has format {number[0]}, or is damaged; this version of Dovetail reads format {_MARK[3]}. Go on "
            "with the release that wrote it, or a newer one."
        )
    body = whole.slice(min(_START, whole.size))
    if bytes(whole[:_START]) != _MARK + _checksum(body, name + also):
        raise _damaged(name, "its contents do not match their checksum")
    return body


def seal_batch(rows: pa.RecordBatch, name: str) -> bytes:
    """Rows as sealed bytes."""
    return seal(batch_to_buffer(rows), name)


def unseal_batch(data: bytes | pa.Buffer, name: str) -> pa.RecordBatch:
    """The rows; their values are not copied."""
    try:
        rows = batch_from_bytes(unseal(data, name))
        if not _is_sealed(pa.py_buffer(data)):
            rows.validate(full=True)  # nothing is reached through offsets that point elsewhere
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, StopIteration) as error:
        raise _damaged(name, str(error)) from error
    return rows


def _is_sealed(data: pa.Buffer) -> bool:
    return bytes(data[: len(_ARROW)]) != _ARROW and bytes(data[: len(_JSON)]) != _JSON


def _checksum(body: bytes | pa.Buffer, name: str) -> bytes:
    return crc32(body, crc32(name.encode())).to_bytes(4, "little")


def _damaged(name: str, why: str) -> StateError:
    advice = "Something changed it after it was written; go on from a snapshot, or from a copy of the checkpoint."
    return StateError(f"{name} is damaged: {why}. {advice}")
