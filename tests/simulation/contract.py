"""What the operator relies on in a state store: the same checks for Spark's own and for that of the simulator.

Each is asked for one grouping key, in one attempt at one batch:

    fresh      the first batch of a key
    committed  a later batch, after one that has come to its end
    failing    an attempt that writes and then fails; ``committed`` is asked of the one that follows
"""

from typing import Any

BLOB = bytes(range(256))


def fresh(value: Any, mapping: Any) -> dict[str, bool]:
    """Of variables that nobody has written to; they are left with one value and two entries."""
    told = {
        "a value that was never written is None": value.get() is None,
        "and does not exist": not value.exists(),
        "an entry that was never written is None": mapping.getValue(("x", 1)) is None,
        "and is not contained": not mapping.containsKey(("x", 1)),
        "a map that was never written is empty": list(mapping.iterator()) == [],
    }
    mapping.removeKey(("x", 1))  # no error
    value.update((b"first",))
    value.update((BLOB,))
    for number in (1, 2, 3):
        mapping.updateValue(("x", number), (BLOB * number,))
    mapping.updateValue(("x", 1), (b"again",))
    mapping.removeKey(("x", 3))
    return told | {"what was written is read in the same attempt": _as_left(value, mapping)}


def committed(value: Any, mapping: Any) -> dict[str, bool]:
    """Of variables that ``fresh`` has left, in a batch before."""
    return {"what was committed is read in the next batch, and nothing else": _as_left(value, mapping)}


def failing(value: Any, mapping: Any) -> None:
    """Write what must not be seen, of an attempt that then fails."""
    value.update((b"never",))
    mapping.updateValue(("x", 9), (b"never",))
    mapping.removeKey(("x", 2))


def _as_left(value: Any, mapping: Any) -> bool:
    (held,) = value.get()
    entries = {tuple(key): bytes(blob) for key, (blob,) in mapping.iterator()}
    (one,) = mapping.getValue(("x", 1))
    expected = {("x", 1): b"again", ("x", 2): BLOB * 2}
    return bytes(held) == BLOB and entries == expected and bytes(one) == b"again" and mapping.getValue(("x", 3)) is None
