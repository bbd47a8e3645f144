"""The structures that may store a stream's window, and what a user says about them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from dovetail.errors import QueryError, nearest
from dovetail.model.choice import as_choice

Algorithm = Literal["hash", "scan", "sorted"]
Algorithms = Literal["auto"] | Mapping[str, Algorithm]

ALGORITHMS: tuple[Algorithm, ...] = ("hash", "scan", "sorted")


def as_algorithms(algorithm: Any, names: Sequence[str]) -> Algorithms:
    """'auto', one word for all streams, or one per stream; streams that are left to the planner are left out.

    >>> as_algorithms("hash", "AB"), as_algorithms({"A": "scan", "B": "auto"}, "AB")
    ({'A': 'hash', 'B': 'hash'}, {'A': 'scan'})
    """
    words: tuple[Any, ...] = (*ALGORITHMS, "auto")
    if isinstance(algorithm, str):
        word = as_choice("algorithm", algorithm, words)
        return "auto" if word == "auto" else dict.fromkeys(names, word)
    if not isinstance(algorithm, Mapping):
        raise QueryError(f"algorithm={algorithm!r}: give 'auto', one of {', '.join(ALGORITHMS)}, or one per stream")
    for name, word in algorithm.items():
        if name not in names:
            raise QueryError(f"algorithm: the query has no stream {name!r}; {nearest(name, names)}")
        as_choice(f"algorithm of {name!r}", word, words)
    return {name: word for name, word in algorithm.items() if word != "auto"}
