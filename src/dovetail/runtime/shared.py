"""Many queries in this process, over streams that are pushed once."""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import pyarrow as pa

from dovetail.control.groups import GroupsOperator, written_places
from dovetail.control.steered_group import group_of
from dovetail.engine.operator.asof_group import AsOfGroup
from dovetail.engine.operator.engine import Stopwatch
from dovetail.engine.operator.group import Setup
from dovetail.engine.operator.snapshot import pack_snapshot, readable, unpack_snapshot
from dovetail.errors import DataError, QueryError
from dovetail.plan.asof_report import asof_report
from dovetail.plan.explain import explain
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_queries import member_of
from dovetail.runtime.finite import load_tables, pushes_of
from dovetail.runtime.local import Run
from dovetail.runtime.plans import plans_of
from dovetail.runtime.wall_stopwatch import WallStopwatch

_PIECE_ROWS = 256  # arrivals that are suspended together: a piece of work is one stage of them
_FINGERPRINT = "shared"


class SharedRun(Run):
    """A run of many queries: results carry ``query``, and queries come and go.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", schema=schema) for name in "AB")
    >>> close = dv.join(a, b, on="A.k = B.k", select="A.k", window="1 second").named("close")
    >>> far = dv.join(a, b, on="A.k = B.k", select="A.k", window="1 minute").named("far")
    >>> run = dv.share(close, far).local()
    >>> run.push("A", [{"ts": 0, "k": 1}]).num_rows
    0
    >>> run.push("B", [{"ts": 500_000, "k": 1}, {"ts": 5_000_000, "k": 1}])["query"].to_pylist()
    ['close', 'far', 'far']
    >>> run.remove("far")
    >>> run.push("A", [{"ts": 5_500_000, "k": 1}])["query"].to_pylist()
    ['close']
    """

    names_queries = True

    def __init__(
        self,
        groups: Groups,
        snapshot: bytes | None = None,
        stopwatch: Stopwatch | None = None,
        block_rows: int | None = None,
        meter: Callable[[], float] | None = None,
        eager: bool = True,
    ) -> None:
        changes = None if snapshot is None else unpack_snapshot(snapshot, _FINGERPRINT)
        if changes is not None:
            with readable():
                groups = _as_written(groups, written_places(changes.header))
        _check_eager(eager, groups)
        self._eager = eager
        setup = Setup(stopwatch or WallStopwatch(), block_rows or (None if eager else _PIECE_ROWS), eager)
        self._operators = GroupsOperator(groups, partial(group_of, setup=setup, meter=meter))
        self._begin(groups.schema, [member.query for member in groups.members], self._operators)
        self._groups = groups
        if changes is not None:
            with readable():
                self._operators.apply(changes)
        else:
            load_tables(self._operators, groups.streams)

    def work(self, seconds: float | None = None) -> pa.Table:
        """Do the most urgent work for so long, or all there is; the results that became certain.

        For runs made with ``local(eager=False)``, whose pushes only take arrivals in. A piece of work that was begun
        is finished.
        """
        self._open("work")
        if seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0):
            raise DataError(f"work: seconds={seconds!r}: it is a number, 0 or more, or None for all there is")
        end = None if seconds is None else perf_counter() + seconds
        return self._table(self._to_the_end(self._operators.work(lambda: end is None or perf_counter() < end)))

    @property
    def suspended(self) -> int:
        """How many arrivals wait for ``work``."""
        return self._operators.suspended

    def add(self, query: Any) -> str:
        """Take in another query; returns the name its results carry.

        It sees the results whose last-arriving member comes from now on; ``metrics()`` says from which time on it
        misses nothing (``complete_from``).
        """
        self._open("add")
        self._settled("add")
        self._worked_off()
        member = member_of(query, _unused([each.name for each in self._groups.members]))
        groups = self._groups.adding(member, known=self._operators.measured())
        _check_eager(self._eager, groups)
        self._change(groups)
        return member.name

    def remove(self, name: str) -> None:
        """Stop a query at once; the others do not notice."""
        self._open("remove")
        self._settled("remove")
        self._worked_off()
        self._change(self._groups.removing(name))

    def _worked_off(self) -> None:
        """What is suspended belongs to the queries as they were; its results come out with the next call."""
        self._rest = list(self._operators.work(lambda: True))

    def _change(self, groups: Groups) -> None:
        self._operators.change(groups)
        self._groups = groups
        self._expect(groups.schema, [member.query for member in groups.members])

    def plan_report(self) -> dict[str, Any]:
        """The plan of each operator as it runs now, with its queries; measured beside predicted."""
        answering = [group.shared for group in self._operators.groups.values() if isinstance(group, AsOfGroup)]
        names = [[member.name for member in shared.members] for shared in answering]
        asof = [{"queries": some} | asof_report(of.plan.query) for some, of in zip(names, answering, strict=True)]
        return {"operators": plans_of(self.operator) + asof}

    def explain(self) -> str:
        """The same in words."""
        parts = self.plan_report()["operators"]
        return "\n\n".join(f"one operator for {', '.join(part['queries'])}\n{explain(part)}" for part in parts)

    def snapshot(self) -> bytes:
        """Everything needed to go on later with ``shared.local(snapshot=...)``, with these queries or others."""
        self._settled("snapshot")
        if self.suspended:
            raise DataError(f"snapshot: {self.suspended} arrivals wait to be worked off; call work() first")
        return pack_snapshot(_FINGERPRINT, self.operator.state())


def _check_eager(eager: Any, groups: Groups) -> None:
    if not isinstance(eager, bool):
        raise QueryError(f"local(eager={eager!r}): it is True or False")
    limited = next((member for member in groups.members if member.query.budget is not None), None)
    if limited is not None and not eager:
        raise QueryError(
            f"local(eager=False): query {limited.name!r} has a budget ({limited.query.budget}), which decides itself "
            "when to work; leave out one of them"
        )


def _as_written(groups: Groups, places: dict[str, str]) -> Groups:
    """The same queries, each in the group that it was in."""
    kept = Groups(schedule=groups.schedule)
    for member in groups.members:
        kept = kept.adding(member, places.get(member.name))
    return kept


def _unused(names: list[str]) -> str:
    return next(name for number in range(1, len(names) + 2) if (name := f"q{number}") not in names)


def collect_shared(groups: Groups) -> pa.Table:
    """Run finite inputs to the end, in order of event time."""
    operator = GroupsOperator(groups, group_of)
    batches = [*(batch for push in pushes_of(groups.streams) for batch in operator.push(push)), *operator.close()]
    return pa.Table.from_batches(batches, groups.schema)
