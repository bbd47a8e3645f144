"""Joins at the ends of 64 bits: keys that overflow match nothing, bands are decided by the exact numbers."""

from collections.abc import Callable

import pyarrow as pa
import pytest

import dovetail as dv

LEAST, MOST = -(2**63), 2**63 - 1
NUMBERS = [LEAST, LEAST + 1, LEAST + 4, -(2**62), -3, 0, 1, 2, 2**62, MOST - 4, MOST - 1, MOST, None]
Rule = Callable[[int, int], bool]


def fits(value: int) -> bool:
    return LEAST <= value <= MOST


def joined(on: str, algorithm: str) -> list[tuple[int, int]]:
    table = pa.table({"k": pa.array(NUMBERS, pa.int64()), "ts": pa.array(range(len(NUMBERS)), pa.timestamp("us"))})
    streams = [dv.stream(name, table, time="ts", window="1 minute") for name in "AB"]
    chosen = algorithm if algorithm == "auto" else dict.fromkeys("AB", algorithm)
    query = dv.join(*streams, on=on, select="A.k AS a, B.k AS b", algorithm=chosen)
    return sorted((row["a"], row["b"]) for row in query.collect().to_pylist())


@pytest.mark.parametrize("algorithm", ["auto", "sorted", "scan"])
@pytest.mark.parametrize(
    ("on", "rule"),
    [
        ("A.k + 1 = B.k", lambda a, b: a + 1 == b),
        ("A.k - 1 = B.k", lambda a, b: a - 1 == b),
        ("A.k * 2 = B.k", lambda a, b: a * 2 == b),
        ("-A.k = B.k", lambda a, b: -a == b),
        ("ABS(A.k) = ABS(B.k)", lambda a, b: abs(a) == abs(b) <= MOST),
        ("A.k * 2 <= B.k", lambda a, b: fits(a * 2) and a * 2 <= b),
        ("A.k = B.k AND A.k + 1 > A.k", lambda a, b: a == b < MOST),
        ("A.k = B.k AND (A.k + B.k > 0 OR A.k = 0)", lambda a, b: a == b and (a == 0 or (fits(a + b) and a + b > 0))),
        ("A.k <= B.k + 5", lambda a, b: a <= b + 5),
        ("A.k - B.k <= 5", lambda a, b: a - b <= 5),
        ("A.k - 3 > B.k", lambda a, b: a - 3 > b),
        ("A.k BETWEEN B.k - 5 AND B.k + 5", lambda a, b: abs(a - b) <= 5),
        ("ABS(A.k - B.k) < 5", lambda a, b: abs(a - b) < 5),
    ],
)
def test_rows_are_those_of_exact_numbers(on: str, rule: Rule, algorithm: str) -> None:
    known = [number for number in NUMBERS if number is not None]
    assert joined(on, algorithm) == sorted((a, b) for a in known for b in known if rule(a, b))
