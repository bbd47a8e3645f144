"""Bucket numbers that Spark's shuffle spreads evenly.

``groupBy(bucket)`` sends a row to partition ``pmod(murmur3(bucket), partitions)``, so the numbers
0..P-1 pile up: of 8, Spark uses 5 partitions. Trying 0, 1, 2, ... and keeping the first number that
falls into each partition still to be filled gives every partition its share:

>>> bucket_numbers(2, 2)
(0, 2)

The first number is always 0, so that two pipelines over one checkpoint share at least this bucket
however many each has: whose checkpoint it is shows there, before anything is lost.
"""

from itertools import count

_MASK = 0xFFFFFFFF  # Murmur3 works on 32 bits
SEED = 42  # Spark's own, for its hash partitioning


def murmur3_int(value: int, seed: int = SEED) -> int:
    """Spark's ``hash()`` of one 32-bit integer column, as a signed 32-bit integer."""
    mixed = (value & _MASK) * 0xCC9E2D51 & _MASK
    mixed = _rotate(mixed, 15) * 0x1B873593 & _MASK
    state = (_rotate((seed ^ mixed) & _MASK, 13) * 5 + 0xE6546B64) & _MASK
    return _signed(_finish(state ^ 4))


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _MASK


def _finish(state: int) -> int:
    state = (state ^ state >> 16) * 0x85EBCA6B & _MASK
    state = (state ^ state >> 13) * 0xC2B2AE35 & _MASK
    return state ^ state >> 16


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def bucket_numbers(buckets: int, partitions: int) -> tuple[int, ...]:
    """A number for each bucket, no shuffle partition having two more of them than another."""
    numbers: list[int] = []
    taken: set[int] = set()
    for number in count():
        if len(numbers) == buckets:
            break
        if len(taken) == partitions:
            taken.clear()
        partition = murmur3_int(number) % partitions
        if partition not in taken:
            taken.add(partition)
            numbers.append(number)
    return tuple(numbers)
