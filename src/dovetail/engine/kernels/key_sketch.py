"""The loop that enters keys into the registers of a sketch."""

import numpy as np

from dovetail.engine.kernels.signature import READ
from dovetail.kernel import kernel


@kernel(f"void({READ}, int64, int64[:, ::1], int64)")
def note_keys(codes, first, registers, least):
    """Enter the keys of tuples first, first + 1, ... from level ``least`` on; later tuples overwrite earlier ones."""
    levels, size = registers.shape
    passed_over = np.uint64((1 << (4 * least)) - 1)
    for at in range(len(codes)):
        word = np.uint64(codes[at])
        word = (word ^ (word >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        word = word ^ (word >> np.uint64(32))
        rest = word >> np.uint64(48)
        if rest & passed_over != 0:
            continue
        slot = np.int64(word & np.uint64(size - 1))
        rest = rest >> np.uint64(4 * least)
        level = least
        registers[level, slot] = first + at
        while level + 1 < levels and rest & np.uint64(15) == 0:
            level += 1
            registers[level, slot] = first + at
            rest = rest >> np.uint64(4)
