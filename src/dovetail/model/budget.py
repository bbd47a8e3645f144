"""How much a join may use, and what gives way when that is too little.

>>> import dovetail as dv
>>> str(dv.budget(cpu=0.5, memory="512 MB"))
'cpu 0.5, memory 512 MB, harvest'
"""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from os import PathLike, fspath
from typing import Any, Literal

from dovetail.errors import QueryError
from dovetail.model.duration import duration_us

Policy = Literal["harvest", "drop", "spill", "fail"]
Solver = Literal["exhaustive", "greedy", "reverse", "double-sided"]
Metric = Literal["output", "output per cost", "delta"]

POLICIES = ("harvest", "drop", "spill", "fail")
SOLVERS = ("exhaustive", "greedy", "reverse", "double-sided")
METRICS = ("output", "output per cost", "delta")
_BYTES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


@dataclass(frozen=True)
class Tuples:
    """A number of stored tuples, of all streams together."""

    count: int

    def __str__(self) -> str:
        return f"{self.count} tuples"


@dataclass(frozen=True)
class Harvest:
    """Settings of window harvesting; ``slice_us``: None for a tenth of each window, ``buffer``: rows per stream."""

    interval_us: int = 5_000_000
    boost: float = 1.2
    sample: float = 0.1
    slice_us: int | None = None
    buffer: int | None = None
    solver: Solver = "double-sided"
    metric: Metric = "delta"


@dataclass(frozen=True)
class Budget:
    """``memory`` in bytes or tuples, per partition; ``settings`` matter to the policy "harvest", ``folder`` to "spill".

    ``strict``: stop with BudgetError when the budget cannot be met without going below ``min_completeness``.
    """

    cpu: float | None = None
    memory: int | Tuples | None = None
    policy: Policy = "harvest"
    min_completeness: float | None = None
    strict: bool = False
    settings: Harvest = Harvest()
    folder: str | None = None

    @property
    def sheds(self) -> bool:
        """Whether results may be missing."""
        return self.policy in ("harvest", "drop")

    def divided(self, operators: int) -> "Budget":
        """An equal share of the memory for each of several operators."""
        if self.memory is None:
            return self
        whole = self.memory.count if isinstance(self.memory, Tuples) else self.memory
        share = max(1, whole // operators)
        return replace(self, memory=Tuples(share) if isinstance(self.memory, Tuples) else share)

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
    """For ``budget=`` of a join: what it may use per partition, and what gives way.

    ``cpu``: share of one core, above 0 up to 1. ``memory``: ``"512 MB"`` or ``dv.tuples(1000)``. ``policy``:
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
    if word not in POLICIES:
        raise QueryError(f"budget(policy={policy!r}): it is one of {_words(POLICIES)}, or dovetail.harvest(...)")
    if cpu is None and memory is None:
        raise QueryError("budget(): give cpu=, memory= or both; a budget of nothing limits nothing")
    share = None if cpu is None else _share("budget(cpu", cpu)
    least = None if min_completeness is None else _share("budget(min_completeness", min_completeness)
    if least is not None and word not in ("harvest", "drop"):
        raise QueryError(f"budget(policy={word!r}): nothing is missing then, so min_completeness= says nothing")
    if folder is not None and word != "spill":
        raise QueryError(f"budget(policy={word!r}, folder={folder!r}): only 'spill' writes to a folder")
    return Budget(share, _as_memory(memory), word, least, bool(strict), settings, _as_folder(folder))


def harvest(
    interval: str | timedelta = "5 seconds",
    boost: float = 1.2,
    sample: float = 0.1,
    slice: str | timedelta | None = None,
    buffer: int | None = None,
    solver: str = "double-sided",
    metric: str = "delta",
) -> Harvest:
    """For ``policy=`` of a budget: "harvest" with its settings.

    ``interval``: how often the throttle is set. ``boost``: how fast it opens again. ``sample``: share of arrivals
    that look evenly through all windows, to learn where results are. ``slice``: length of the parts of a window
    that are chosen or not (a tenth of it). ``buffer``: how many rows of a stream may wait for the CPU before the
    rest are dropped at the door (as many as come in an interval). ``solver``: "double-sided", "greedy", "reverse"
    or "exhaustive"; ``metric``: "delta", "output per cost" or "output".

    >>> import dovetail as dv
    >>> dv.harvest(interval="1 second", slice="500 milliseconds").interval_us
    1000000
    """
    if solver not in SOLVERS:
        raise QueryError(f"harvest(solver={solver!r}): it is one of {_words(SOLVERS)}")
    if metric not in METRICS:
        raise QueryError(f"harvest(metric={metric!r}): it is one of {_words(METRICS)}")
    if not _is_number(boost) or not boost > 1:
        raise QueryError(f"harvest(boost={boost!r}): it is a number above 1, the factor by which the throttle opens")
    if buffer is not None and (isinstance(buffer, bool) or not isinstance(buffer, int) or buffer < 1):
        raise QueryError(f"harvest(buffer={buffer!r}): it is a number of rows, 1 or more, or None")
    slice_us = None if slice is None else _positive("slice", slice)
    every, part = _positive("interval", interval), _share("harvest(sample", sample)
    return Harvest(every, float(boost), part, slice_us, buffer, solver, metric)  # type: ignore[arg-type]


def tuples(count: int) -> Tuples:
    """For ``memory=`` of a budget: a number of stored tuples instead of bytes.

    >>> import dovetail as dv
    >>> str(dv.tuples(1000))
    '1000 tuples'
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise QueryError(f"tuples({count!r}): it is a whole number, 1 or more")
    return Tuples(count)


def _as_memory(memory: Any) -> int | Tuples | None:
    if memory is None or isinstance(memory, Tuples):
        return memory
    match = _SIZE.fullmatch(memory) if isinstance(memory, str) else None
    if match is None or match[2].lower() not in _BYTES or not float(match[1]) > 0:
        raise QueryError(f"budget(memory={memory!r}): write a size like '512 MB', or dovetail.tuples(1000)")
    return int(float(match[1]) * _BYTES[match[2].lower()])


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


def _share(option: str, value: Any) -> float:
    if not _is_number(value) or not 0 < value <= 1:
        raise QueryError(f"{option}={value!r}): it is a number above 0, up to 1")
    return float(value)


def _positive(option: str, value: str | timedelta) -> int:
    try:
        us = duration_us(value)
    except ValueError as error:
        raise QueryError(f"harvest({option}): {error}") from error
    if us <= 0:
        raise QueryError(f"harvest({option}={value!r}): it is longer than nothing")
    return us


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(choices: tuple[str, ...]) -> str:
    return ", ".join(map(repr, choices))
