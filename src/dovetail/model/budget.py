"""How much a join may use, and what gives way when that is too little.

>>> import dovetail as dv
>>> str(dv.budget(cpu=0.5, memory="512 MB"))
'cpu 0.5, memory 512 MB, harvest'
"""

import re
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any, Literal

from dovetail.errors import QueryError
from dovetail.model.harvest import Harvest
from dovetail.model.number import MOST, as_count, as_number, as_share

Policy = Literal["harvest", "drop", "spill", "fail"]

POLICIES = ("harvest", "drop", "spill", "fail")
_PLAIN = Harvest()
_BYTES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


@dataclass(frozen=True)
class Tuples:
    """A number of stored tuples, of all streams together."""

    count: int

    def __post_init__(self) -> None:
        count = as_count(self.count)
        if count is None:
            raise QueryError(f"tuples({self.count!r}): it is a whole number, 1 or more")
        object.__setattr__(self, "count", count)

    def __str__(self) -> str:
        return f"{self.count} tuples"


@dataclass(frozen=True)
class Budget:
    """What a whole query may use; ``settings`` matter to the policy "harvest", ``folder`` to "spill".

    ``strict``: stop with BudgetError when the budget cannot be met without going below ``min_completeness``.
    """

    cpu: float | None = None
    memory: int | Tuples | None = None
    policy: Policy = "harvest"
    min_completeness: float | None = None
    strict: bool = False
    settings: Harvest = _PLAIN
    folder: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.policy, str) or self.policy not in POLICIES:
            words = ", ".join(map(repr, POLICIES))
            raise QueryError(f"budget(policy={self.policy!r}): it is one of {words}, or dovetail.harvest(...)")
        if not isinstance(self.settings, Harvest):
            raise QueryError(f"budget(settings={self.settings!r}): make them with dovetail.harvest(...)")
        if not isinstance(self.strict, bool):
            raise QueryError(f"budget(strict={self.strict!r}): it is True or False")
        if self.cpu is not None:
            object.__setattr__(self, "cpu", _as_cores(self.cpu))
        if self.min_completeness is not None:
            object.__setattr__(self, "min_completeness", as_share("budget(min_completeness", self.min_completeness))
        if not isinstance(self.memory, Tuples | None) and as_count(self.memory) is None:
            raise QueryError(f"budget(memory={self.memory!r}): write a size like '512 MB', or dovetail.tuples(1000)")
        object.__setattr__(self, "folder", _as_folder(self.folder))
        self._check_together()

    def _check_together(self) -> None:
        """What is limited, and what gives way, fit each other."""
        if self.cpu is None and self.memory is None:
            raise QueryError("budget(): give cpu=, memory= or both; a budget of nothing limits nothing")
        if self.min_completeness is not None and not self.sheds:
            raise QueryError(
                f"budget(policy={self.policy!r}): nothing is missing then, so min_completeness= says nothing"
            )
        if self.folder is not None and self.policy != "spill":
            raise QueryError(f"budget(policy={self.policy!r}, folder={self.folder!r}): only 'spill' writes to a folder")
        if self.cpu is not None and not self.sheds:
            raise QueryError(f"budget(cpu=..., policy={self.policy!r}): too little CPU takes 'harvest' or 'drop'")
        if self.memory is not None and self.cpu is None and self.policy == "drop":
            raise QueryError("budget(memory=..., policy='drop'): too little memory takes 'harvest', 'spill' or 'fail'")

    @property
    def sheds(self) -> bool:
        """Whether results may be missing."""
        return self.policy in ("harvest", "drop")

    def part(self, cpu: float, memory: float, operators: int) -> "Budget":
        """Shares of CPU and memory for one of several operators; together they are as complete as asked."""
        least = None if self.min_completeness is None else self.min_completeness ** (1 / operators)
        held = None if self.memory is None else max(1, int(self.size * memory))
        return replace(
            self,
            cpu=None if self.cpu is None else self.cpu * cpu,
            memory=Tuples(held) if held is not None and isinstance(self.memory, Tuples) else held,
            min_completeness=least,
        )

    @property
    def size(self) -> int:
        """The memory as a number, of bytes or of tuples."""
        return self.memory.count if isinstance(self.memory, Tuples) else self.memory or 0

    def __str__(self) -> str:
        cpu = "" if self.cpu is None else f"cpu {self.cpu:g}, "
        memory = "" if self.memory is None else f"memory {_memory_text(self.memory)}, "
        least = "" if self.min_completeness is None else f", completeness {self.min_completeness:g} or more"
        return f"{cpu}{memory}{self.policy}{least}"


def budget(
    cpu: float | None = None,
    memory: "str | int | Tuples | None" = None,
    policy: "str | Harvest" = "harvest",
    min_completeness: float | None = None,
    strict: bool = False,
    folder: "str | PathLike[str] | None" = None,
) -> Budget:
    """For ``budget=`` of a join: what the whole query may use, on Spark all its buckets, and what gives way.

    ``cpu``: 0.5 is half a core; on Spark, where buckets work side by side, 2 is two cores. ``memory``: ``"512 MB"`` or
    ``dv.tuples(1000)``. ``policy``:
    "harvest" (look only where most results are), "drop" (tuples, at the door), "spill" (to disk), "fail".
    With ``strict``, a run that cannot keep both the budget and ``min_completeness`` stops with BudgetError;
    otherwise it keeps the completeness and reports what it uses. ``folder``: where "spill" writes, else the system's
    folder for temporary files.

    >>> import dovetail as dv
    >>> dv.budget(cpu=0.25, min_completeness=0.9).cpu
    0.25
    """
    settings = policy if isinstance(policy, Harvest) else Harvest()
    word: Any = "harvest" if isinstance(policy, Harvest) else policy
    where: Any = folder
    return Budget(cpu, _as_memory(memory), word, min_completeness, strict, settings, where)


def _as_cores(value: Any) -> float:
    cores = as_number(value)
    if cores is None or cores <= 0:
        raise QueryError(f"budget(cpu={value!r}): it is a number of cores above 0, like 0.5")
    return cores


def tuples(count: int) -> Tuples:
    """For ``memory=`` of a budget: a number of stored tuples instead of bytes.

    >>> import dovetail as dv
    >>> str(dv.tuples(1000))
    '1000 tuples'
    """
    return Tuples(count)


def _as_memory(memory: Any) -> int | Tuples | None:
    """A size in bytes from text; a plain number has no unit and is refused."""
    if memory is None or isinstance(memory, Tuples):
        return memory
    match = _SIZE.fullmatch(memory) if isinstance(memory, str) else None
    unit = _BYTES.get(match[2].lower()) if match else None
    size = int(min(float(match[1]) * unit, 2.0 * MOST)) if match and unit else None
    if as_count(size) is None:
        raise QueryError(f"budget(memory={memory!r}): write a size like '512 MB', or dovetail.tuples(1000)")
    return size


def _as_folder(folder: Any) -> str | None:
    if folder is not None and not isinstance(folder, str | PathLike):
        raise QueryError(f"budget(folder={folder!r}): it is the path of a folder")
    return None if folder is None else fspath(folder)


def _memory_text(memory: int | Tuples) -> str:
    if isinstance(memory, Tuples):
        return str(memory)
    for unit in ("GB", "MB", "kB"):
        if memory % _BYTES[unit.lower()] == 0:
            return f"{memory // _BYTES[unit.lower()]} {unit}"
    return f"{memory} B"
