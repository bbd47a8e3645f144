"""The plan of an as-of join: for each as-of stream the key that its rows are kept by, and what else must hold.

    T.sym = Q.sym AND T.size <= Q.size      kept by Q.sym, looked up by T.sym, then T.size <= Q.size over the candidates

There is nothing to choose: rows of an as-of stream stand in chains by key, in order of time.
"""

from dataclasses import dataclass

from dovetail.model.asof import AsOf
from dovetail.model.expression import Expression, streams_of
from dovetail.model.predicate import Equality, Predicate, predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.table import is_key
from dovetail.plan.physical import Key, Plan, Storage


@dataclass(frozen=True)
class Side:
    """One as-of stream: ``own`` is the key of its rows, ``bound`` that of the rows it answers (None: no key).

    Of a table ``judged`` are the conditions on a row that was chosen: it is an answer if it meets them.
    """

    name: str
    asof: AsOf
    own: Key | None
    bound: Key | None
    conditions: tuple[Predicate, ...]
    judged: tuple[Expression, ...] | None = None


def sides_of(query: JoinQuery) -> tuple[Side, ...]:
    """The as-of streams of a query."""
    return tuple(_side(query, stream, stream.asof) for stream in query.streams if stream.asof is not None)


def _side(query: JoinQuery, stream: Stream, asof: AsOf) -> Side:
    name = stream.name
    about = [predicate for predicate in query.predicates if name in predicate_streams(predicate)]
    pairs = {
        ((each.left, each.right) if streams_of(each.left) == {name} else (each.right, each.left)): None
        for each in about
        if isinstance(each, Equality) and (stream.table is None or is_key(each, name, stream.table))
    }
    own, bound = (Key(tuple(pair[at] for pair in pairs)) if pairs else None for at in (0, 1))
    if stream.table is None:
        return Side(name, asof, own, bound, tuple(each for each in about if not isinstance(each, Equality)))
    rest = tuple(each for each in about if not is_key(each, name, stream.table))
    return Side(name, asof, own, bound, rest, query.filters_of(name))


def plan_asof(query: JoinQuery) -> Plan:
    """What each stream stores; probes have no order to be chosen."""
    keys = {side.name: (side.own,) if side.own else () for side in sides_of(query)}
    storage = {
        name: Storage("hash", query.columns_read(name), keys.get(name, ()), (), (), keeps_all=_keeps_all(query, name))
        for name in query.names
    }
    return Plan(query, storage, {}, ())


def _keeps_all(query: JoinQuery, name: str) -> bool:
    """Rows to be answered come out even if they fail their own conditions, unless that would be inner on every side.

    A version that fails its own conditions still ends the one before it.
    """
    return query.stream(name).table is not None or (name == query.answered and query.how == "left")
