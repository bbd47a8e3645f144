"""Bytes that carry a checksum: what was changed on a disk is noticed before anything is read from it.

    DVC | 2 | CRC-32 of the name and the rest | the release that wrote it, in 16 bytes | the rest
    DVC | 1 | CRC-32 of the name and the rest | the rest                                         read, never written

The name says where the bytes belong, so that two slices in each other's place are noticed as well. What was written
before there were checksums is known by how it begins; its rows are validated in full.
"""

from zlib import crc32

import pyarrow as pa

from dovetail.engine.block.ipc import batch_from_bytes, batch_to_buffer
from dovetail.errors import StateError
from dovetail.model.stamp import release, too_new

_MARK = b"DVC"
_NEWEST = 2  # number of the format
_SUM = 4  # where the checksum of four bytes is, behind the mark and the number
_BY = slice(8, 24)  # where every number from 2 on has the release
_STARTS = {1: 8, 2: 24}  # of the rest, by number; multiples of 8, as Arrow likes its buffers
_ARROW, _JSON = b"\xff\xff\xff\xff", b"{"  # how rows and headers begin that have no checksum


def seal(body: bytes | pa.Buffer, name: str, also: str = "") -> bytes:
    """The bytes behind their checksum, which covers ``also`` what is kept beside them.

    >>> unseal(seal(b"{}", "the head"), "the head").to_pybytes()
    b'{}'
    """
    by = release().encode()[:16].ljust(16)
    return b"".join((_MARK, bytes([_NEWEST]), _checksum(body, name + also, by), by, body))


def checksum_of(sealed: bytes) -> int:
    """The checksum that sealed bytes carry."""
    return int.from_bytes(sealed[_SUM : _SUM + 4], "little")


def unseal(data: bytes | pa.Buffer, name: str, also: str = "") -> pa.Buffer:
    """What was sealed under this name, not copied; StateError if it is not as it was."""
    whole = pa.py_buffer(data)
    if not _is_sealed(whole):
        return whole
    number = int.from_bytes(whole[3:4])
    marked = bytes(whole[:3]) == _MARK
    if marked and number > _NEWEST:
        by = bytes(whole[_BY]).decode("ascii", "replace").strip()
        raise too_new(f"{name} is damaged, or", number, by, _NEWEST)
    start = _STARTS.get(number, whole.size)
    body = whole.slice(min(start, whole.size))
    if (
        not marked
        or number not in _STARTS
        or bytes(whole[_SUM : _SUM + 4]) != _checksum(body, name + also, bytes(whole[8:start]))
    ):
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


def _checksum(body: bytes | pa.Buffer, name: str, by: bytes) -> bytes:
    return crc32(body, crc32(by, crc32(name.encode()))).to_bytes(4, "little")


def _damaged(name: str, why: str) -> StateError:
    advice = "Something changed it after it was written; go on from a snapshot, or from a copy of the checkpoint."
    return StateError(f"{name} is damaged: {why}. {advice}")
