"""One as-of join for many queries: rows are answered once, and each query takes its own of the answers.

    push   the union answers -> each query: rows that came since it joined, its conditions, its columns -> named rows,
           in order if it asked for one

Rows of the answered stream carry the ``epoch`` in which they came: how often the set of queries had changed by then.
A query that joins later answers rows that come after it, over all that is stored of the other streams.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.asof.conditions import Columns, is_true
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.section import Changes, HeaderSection, Slices, whole_numbers
from dovetail.engine.deliver.hold import result_times
from dovetail.engine.deliver.route import MEMBERSHIP, Subscription, checked_count, inner_schema
from dovetail.engine.evaluate.compiled import compiled
from dovetail.engine.operator.around import Around
from dovetail.engine.operator.asof import AsOfOperator
from dovetail.engine.operator.group import fit, with_epochs
from dovetail.engine.operator.state import State, read_header
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Rows
from dovetail.errors import QueryError
from dovetail.model.expression import columns_of
from dovetail.model.query import JoinQuery
from dovetail.plan.share_queries import Member, SharedPlan


@dataclass(frozen=True)
class _Taking:
    """What one query takes of the answers."""

    member: Member
    place: Subscription

    def rows(self, answers: pa.RecordBatch, columns: Columns, schema: pa.Schema) -> pa.RecordBatch:
        """Its rows: result time, its number, the columns of all queries."""
        here = pa.array(self._meant(columns, answers.num_rows))
        own = {place: array.filter(here) for place, array in columns.items()}
        times = answers.column(0).filter(here)
        found = {each.name: compiled(each.expression)(own, len(times)) for each in self.member.query.select}
        arrays = [
            found[field.name] if field.name in found else pa.nulls(len(times), field.type) for field in list(schema)[2:]
        ]
        number = pa.repeat(pa.scalar(self.place.number, pa.int32()), len(times))
        return pa.RecordBatch.from_arrays([times, number, *arrays], schema=schema)

    def _meant(self, columns: Columns, length: int) -> npt.NDArray[np.bool_]:
        """Which answers it gives out."""
        query = self.member.query
        own = query.answered or ""
        meant: npt.NDArray[np.bool_] = columns[own, MEMBERSHIP].to_numpy() >= self.place.since
        for stream in query.streams:
            if stream.asof is not None and stream.asof.how == "inner":
                meant &= columns[stream.name, stream.time].is_valid().to_numpy(zero_copy_only=False)
        for condition in query.filters_of(own) if query.how == "inner" else ():
            meant &= is_true(condition, columns, length)
        return meant


class _Members(HeaderSection):
    """Who takes part, since when, and how many rows each has got: part of the state."""

    section = "group"

    def __init__(self, members: Sequence[Member]) -> None:
        self.places = tuple(Subscription(each.name, at, each.fingerprint) for at, each in enumerate(members))
        self.epoch, self.following = 0, len(self.places)
        self.delivered: Counter[str] = Counter()

    def change(self, members: Sequence[Member], latest: int) -> None:
        """Other queries from now on; who was there stays."""
        known = {(each.name, each.fingerprint): each for each in self.places}
        if list(known) == [(each.name, each.fingerprint) for each in members]:
            return
        self.epoch += 1
        for member in members:
            if (member.name, member.fingerprint) not in known:
                joined = Subscription(member.name, self.following, member.fingerprint, self.epoch)
                complete = None if latest == BEFORE_ALL else min(latest + 1 + _later(member.query), AFTER_ALL)
                known[member.name, member.fingerprint] = replace(joined, complete_from=complete)
                self.following += 1
        self.places = tuple(known[member.name, member.fingerprint] for member in members)
        self.delivered = Counter({each.name: self.delivered[each.name] for each in self.places})

    def header(self) -> dict[str, Any]:
        told = {"places": [asdict(each) for each in self.places], "epoch": self.epoch, "following": self.following}
        return {"subscriptions": told, "delivered": dict(self.delivered)}

    def recall(self, header: Mapping[str, Any]) -> None:
        """Who took part when a state was written."""
        told = header["subscriptions"]
        self.places = tuple(Subscription.from_json(each) for each in told["places"])
        self.epoch, self.following = checked_count(told["epoch"]), checked_count(told["following"])

    def restore(self, header: dict[str, Any]) -> None:
        """How many rows each has got; who takes part was read before."""
        self.delivered = Counter(whole_numbers(header["delivered"]))


def _later(query: JoinQuery) -> int:
    """How much later than a row its result may be."""
    sides = [stream.asof for stream in query.streams if stream.asof is not None]
    waits = (AFTER_ALL if each.tolerance_us is None else each.tolerance_us for each in sides if each.waits)
    return max(waits, default=0) + max(0, *(each.offset_us for each in sides))


class AsOfGroup(Around):
    """The operator of as-of joins with the same answers; its rows are ``query``, ``result_time``, then all columns."""

    operator: AsOfOperator

    def __init__(self, shared: SharedPlan, store: PartStore | None = None) -> None:
        self.shared, self._store = shared, store
        self._name = shared.plan.query.answered or ""
        self.operator = AsOfOperator(with_epochs(shared.plan, [self._name]), store)
        self._members = _Members(shared.members)
        self._held = Pile("held/named", result_times, BEFORE_ALL)
        self._state = State([*self.operator.sections(), self._held, self._members])
        self._renew()

    def _renew(self) -> None:
        """Follow the queries there are."""
        self._taking = [
            _Taking(member, place) for member, place in zip(self.shared.members, self._members.places, strict=True)
        ]
        selected = (column for output in self.operator.plan.query.select for column in columns_of(output.expression))
        self._columns = [(column.stream, column.name) for column in selected]
        self._schema = inner_schema(self.shared)
        self._names = {each.place.number: each.member.name for each in self._taking}

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch of one or several streams; rows that do not fit are found before anything has changed."""
        stamped = {name: self._stamped(rows) if name == self._name else rows for name, rows in blocks.items()}
        return self._taken(self.operator.push(stamped, newest, spans))

    def _stamped(self, rows: Batch) -> Batch:
        return rows.append_column(MEMBERSHIP, pa.repeat(pa.scalar(self._members.epoch, pa.int32()), rows.num_rows))

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        return self._taken(self.operator.advance(name, time_us))

    def tick(self, now_us: int) -> Rows:
        """It is now this time."""
        return self._taken(self.operator.tick(now_us))

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""
        return self._taken(self.operator.close())

    def _taken(self, results: Rows) -> Rows:
        """Answers leave as rows of queries, or wait until nothing older can follow."""
        for answers in results:
            columns = dict(zip(self._columns, answers.columns[1:], strict=True))
            for each in self._taking:
                rows = each.rows(answers, columns, self._schema)
                if each.member.query.order != "none":
                    self._held.add(rows)
                elif rows.num_rows:
                    yield self._named(rows)
        due = self._held.release(max(self.frontier, self._held.limit))
        if due is not None:
            yield from self._of_those_here(due)

    def _of_those_here(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The rows without those of queries that have left."""
        here = np.isin(rows.column(1).to_numpy(), list(self._names))
        if here.any():
            yield self._named(rows if here.all() else rows.filter(pa.array(here)))

    def _named(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        numbers, places = np.unique(rows.column(1).to_numpy(), return_inverse=True)
        names = [self._names[number] for number in numbers.tolist()]
        for name, count in zip(names, np.bincount(places).tolist(), strict=True):
            self._members.delivered[name] += count
        named = pa.array(names, pa.string()).take(pa.array(places))
        columns = dict(zip(rows.schema.names, rows.columns, strict=True)) | {"query": named}
        schema = self.shared.schema
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of its streams."""
        return self.shared.plan.query.names

    @property
    def diverted(self) -> Diverted:
        """The rows that did not come in, with the epoch that is stored with them."""
        return self.operator.diverted

    def progress(self) -> dict[str, dict[str, Any]]:
        """How far each stream has come, for a group that starts later."""
        return self.operator.inputs.progress()

    def start_late(self, progress: Mapping[str, Mapping[str, Any]]) -> None:
        """QueryError if something has come already: what was not stored would make another row the best."""
        if self.operator.inputs.start_late(progress) > BEFORE_ALL:
            names = ", ".join(repr(member.name) for member in self.shared.members)
            raise QueryError(
                f"share: {names} cannot join running queries: none of them is an as-of join of the same streams, "
                "conditions and columns, and rows that have come already could be the best. Start it with the others, "
                "or by itself"
            )

    def changed(self, shared: SharedPlan) -> "AsOfGroup":
        """An operator for other queries that goes on from here; this one itself if what is stored stays the same."""
        if shared.plan.query == self.shared.plan.query:
            self.shared = shared
            self._held.change(lambda rows: fit(rows, inner_schema(shared)))
            self._members.change(shared.members, self.operator.inputs.latest)
            self._renew()
            return self
        other = AsOfGroup(shared, self._store)
        other.apply(self.state())
        return other

    def share(self, load: float, weight: float) -> None:
        """Such a part of the load is this group's of late, and of the budget."""
        self.operator.share(load, weight)

    suspended = 0  # every push is worked off

    def work(self) -> Rows:
        """Nothing is left to be done."""
        return iter(())

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        return self._state.changes()

    def state(self) -> Changes:
        """All of the state, without taking note of having written it."""
        return self._state.all()

    def apply(self, changes: Changes) -> None:
        """Take over the state of this group, whoever its queries were."""
        sections = read_header(changes.header)["sections"]
        self._members.recall(sections["group"])
        self._members.change(self.shared.members, int(sections["inputs"]["latest"]))
        self._renew()
        self._state.apply(Changes(self._fitted(changes.new), changes.gone, changes.header))
        self.operator.resume()

    def _fitted(self, slices: Slices) -> Slices:
        """Slices with the columns of today: what they lack is NULL, what nobody reads any more goes."""
        declared = self.operator.plan.query.stream(self._name).schema
        stored = [declared.field(name) for name in self.operator.plan.columns[self._name]]
        schemas = {
            "held/named": self._schema,
            f"waiting/{self._name}": pa.schema(stored),
            "open": pa.schema([pa.field("time", pa.int64()), pa.field("eligible", pa.bool_()), *stored]),
        }
        return {key: fit(rows, schemas[key[0]]) if key[0] in schemas else rows for key, rows in slices.items()}

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far; of each query the rows it got, those that wait, and from when it is complete."""
        held = Counter[int]()
        for rows in self._held.state().values():
            held.update(dict(enumerate(np.bincount(rows.column(1).to_numpy()).tolist())))
        queries = {
            each.name: {
                "results": self._members.delivered[each.name],
                "held": held[each.number],
                "complete_from": each.complete_from,
            }
            for each in self._members.places
        }
        join = self.operator.metrics()
        own = {"held": len(self._held), "held_bytes": self._held.nbytes, "bytes": join["bytes"] + self._held.nbytes}
        return join | own | {"results": sum(self._members.delivered.values()), "queries": queries}
