"""Codes of texts: the same in every release, since they say which bucket of a checkpoint a key is in."""

from itertools import pairwise

import numpy as np
import pytest

from dovetail.engine.kernels import hash_bytes

SIZE = (1 << 64) - 1


def code_of(text: bytes) -> int:
    """FNV-1a, then mixed once more."""
    code = 0xCBF29CE484222325
    for byte in text:
        code = (code ^ byte) * 0x100000001B3 & SIZE
    code = (code ^ (code >> 32)) * 0xD6E8FEB86659FD93 & SIZE
    return int(np.uint64(code ^ (code >> 32)).astype(np.int64))


@pytest.mark.parametrize("count", range(10))
@pytest.mark.parametrize("longest", [0, 1, 9, 120])
def test_texts_side_by_side_have_the_codes_that_each_has_alone(count: int, longest: int) -> None:
    random = np.random.default_rng(count * 1000 + longest)
    offsets = np.cumsum([3, *random.integers(0, longest + 1, count)]).astype(np.int32)
    data = random.integers(0, 256, offsets[-1] + 5).astype(np.uint8)
    found = hash_bytes(offsets, data)
    texts = [data[start:stop].tobytes() for start, stop in pairwise(offsets)]
    assert found.tolist() == [code_of(text) for text in texts]
