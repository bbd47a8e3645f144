"""Many queries on a simulated clock: one server, whose work is reckoned and not measured.

The operator is the real one, one tuple at a time; only its clock is made up. A tuple is taken in as soon as the server
has ended the piece of work it was at; which piece is next is for the operator's schedule to say. A piece takes as long
as ``service`` says, and what it makes certain leaves when it ends.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", schema=schema) for name in "AB")
    >>> near, far = (dv.join(a, b, on="A.k = B.k", window=w, order="hold", select="A.k") for w in ("1 s", "9 s"))
    >>> rows = [Arrival(at, name, {"ts": int(at * 1e6), "k": 7}) for at, name in ((1.0, "A"), (1.5, "B"), (4.0, "A"))]
    >>> released = simulate_shared(dv.share(near, far), rows, lambda worked: 0.25)
    >>> [(result.at, result.row["query"]) for result in released]
    [(1.75, 'q1'), (1.75, 'q2'), (4.5, 'q2')]
"""

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from dovetail.api.shared_query import SharedQuery
from dovetail.control.schedule import schedule_windows
from dovetail.engine.operator.group import Group, Setup, Worked
from dovetail.testing.simulate import Arrival, Released

Service = Callable[[Worked], float]


def simulate_shared(shared: SharedQuery, arrivals: Iterable[Arrival], service: Service) -> list[Released]:
    """Play arrivals, in order of their moments and without late ones; the queries must be one operator."""
    setup = Setup(block_rows=1, eager=False)
    (plan,) = shared.groups.plans.values()
    group = Group(plan, schedule_windows(plan), setup)
    coming = sorted(arrivals, key=lambda arrival: arrival.at)
    released, now = [], 0.0
    while coming or group.suspended:
        now = now if group.suspended else max(now, coming[0].at)
        while coming and coming[0].at <= now:
            released += _released(now, _take_in(group, coming.pop(0)))
        if group.suspended:
            batches = list(group.work())
            now += service(group.worked)
            released += _released(now, batches)
    return released


def _take_in(group: Group, arrival: Arrival) -> Iterator[pa.RecordBatch]:
    """The row, and the promise of every stream that nothing older comes: arrivals are in order of time."""
    stream = next(each for each in group.shared.plan.query.streams if each.name == arrival.stream)
    row = pa.Table.from_pylist([dict(arrival.row)], stream.schema)
    yield from group.push({arrival.stream: row})
    (readings,) = group.statistics()
    for name in group.streams:
        yield from group.advance(name, readings.latest)


def _released(now: float, batches: Iterable[pa.RecordBatch]) -> list[Released]:
    return [Released(now, row) for batch in batches for row in batch.to_pylist()]
