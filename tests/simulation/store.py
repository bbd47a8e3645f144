"""A state store as Spark promises it to be: versions per partition, and the variables of whatever key is being called.

    open(4, executor)     a transaction over version 4; nobody sees what it writes
    commit(transaction)   version 5, for all who open it from now on; of two attempts the later one is it
    (nothing)             an attempt that ends without a commit has done nothing

An executor that has committed a version itself goes on with its own copy of it, as Spark's does: after two attempts at
one batch the copies of two executors need not be byte for byte the same.
"""

import errno
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Values = dict[tuple[Any, ...], Any]


@dataclass
class Transaction:
    """What one task attempt reads and writes; with ``full_at`` the disk is full at that operation."""

    version: int
    executor: int
    values: Values
    full_at: int | None = None
    operations: int = 0
    key: tuple[Any, ...] = ()

    def touch(self) -> None:
        """One call of the state's interface."""
        self.operations += 1
        if self.operations - 1 == self.full_at:
            raise OSError(errno.ENOSPC, "no space left on device")

    def getValueState(self, name: str, schema: Any) -> "Variable":  # noqa: N802
        return Variable(self, name)

    def getMapState(self, name: str, key_schema: Any, value_schema: Any) -> "Variable":  # noqa: N802
        return Variable(self, name)


class Variable:
    """A value under no key, or values under keys; those of the grouping key that is being called."""

    def __init__(self, transaction: Transaction, name: str) -> None:
        self._transaction, self._name = transaction, name

    def _place(self, key: Any) -> tuple[Any, ...]:
        return (self._transaction.key, self._name, key)

    def exists(self) -> bool:
        return self.get() is not None

    def get(self) -> Any:
        return self.getValue(())

    def update(self, value: Any) -> None:
        self.updateValue((), value)

    def clear(self) -> None:
        self.removeKey(())

    def containsKey(self, key: Any) -> bool:  # noqa: N802
        return self.getValue(key) is not None

    def getValue(self, key: Any) -> Any:  # noqa: N802
        self._transaction.touch()
        return self._transaction.values.get(self._place(key))

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self._transaction.touch()
        self._transaction.values[self._place(key)] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        self._transaction.touch()
        self._transaction.values.pop(self._place(key), None)

    def iterator(self) -> Iterator[tuple[Any, Any]]:
        self._transaction.touch()
        own = (self._transaction.key, self._name)
        return iter([(place[2], value) for place, value in self._transaction.values.items() if place[:2] == own])


@dataclass
class PartitionStore:
    """The versions of one partition's state, and the copies that executors have of their own."""

    versions: dict[int, Values] = field(default_factory=lambda: {0: {}})
    copies: dict[int, tuple[int, Values]] = field(default_factory=dict)

    def open(self, version: int, executor: int, full_at: int | None = None) -> Transaction:
        """A transaction over a version that was committed."""
        held = self.copies.get(executor)
        values = held[1] if held is not None and held[0] == version else self.versions[version]
        return Transaction(version, executor, dict(values), full_at)

    def commit(self, transaction: Transaction) -> None:
        """What it has written is the next version."""
        self.versions[transaction.version + 1] = dict(transaction.values)
        self.copies[transaction.executor] = (transaction.version + 1, dict(transaction.values))

    def back_to(self, version: int) -> None:
        """Only what was committed up to a version is there; whoever starts then has no copies."""
        self.versions = {number: values for number, values in self.versions.items() if number <= version}
        self.copies.clear()

    def lose(self, executor: int) -> None:
        """An executor is gone, and its copy with it."""
        self.copies.pop(executor, None)
