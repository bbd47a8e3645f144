"""From a bound query to a physical plan: storage per stream, a probe per arriving stream."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from dovetail.errors import PlanError
from dovetail.model.algorithm import Algorithm
from dovetail.model.expression import Expression, streams_of
from dovetail.model.predicate import Band, Equality, Similarity, predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.steps import step_of
from dovetail.model.window import RowWindow
from dovetail.plan.join_graph import close_equalities
from dovetail.plan.levels import levels_of, stream_of, to_verify
from dovetail.plan.physical import (
    Access,
    AnyAccess,
    Attribute,
    BandAccess,
    Group,
    Key,
    KeyAccess,
    Level,
    Number,
    Option,
    PairAccess,
    Plan,
    Ranking,
    Storage,
    TimeAccess,
    Vector,
)
from dovetail.plan.plan_asof import plan_asof
from dovetail.plan.plan_steps import plan_steps
from dovetail.plan.rules import Draft, decide


def plan_query(
    query: JoinQuery,
    orders: Mapping[str, Sequence[str]] | None = None,
    algorithms: Mapping[str, Algorithm] | None = None,
    lazy: Collection[str] | None = None,
) -> Plan:
    """The plan of one multi-way operator; what is given overrides what the rules decide by the predicates alone."""
    if query.answered is not None:
        return plan_asof(query)
    predicates = close_equalities(query.predicates)
    plan = decide(Draft(query, predicates, orders=orders or {}, algorithms=algorithms or {}, lazy=lazy))
    probes = {name: levels_of(name, plan.orders[name], predicates, plan.algorithms) for name in query.names}
    steps = plan_steps(query, plan.algorithms) if query.stepwise else None
    levels = [level for each in probes.values() for level in each] + (steps.levels if steps else [])
    lazy = plan.lazy or ()
    storage = {name: _storage(query, name, plan.algorithms[name], levels, name in lazy) for name in query.names}
    verify = tuple(to_verify(query.predicates, levels))
    return Plan(query, storage, probes, verify, steps)


def _storage(query: JoinQuery, name: str, algorithm: Algorithm, levels: Sequence[Level], lazy: bool) -> Storage:
    attributes = dict.fromkeys(_attributes(name, levels))
    accesses = [level.access for level in levels if level.stream == name]
    hashed: dict[Key | Group | Option, None] = dict.fromkeys(
        access.own for access in accesses if isinstance(access, KeyAccess) and access.indexed and algorithm == "hash"
    )
    hashed |= dict.fromkeys(own for access in accesses if isinstance(access, AnyAccess) for own, _ in access.options)
    ranked: dict[Ranking, None] = {}
    for access in accesses:
        if algorithm == "sorted" and isinstance(access, KeyAccess | BandAccess | PairAccess) and access.indexed:
            ranked[access.own] = None
    celled = dict.fromkeys(a.cells for a in accesses if isinstance(a, BandAccess) and a.cells is not None)
    group = row_group(query, name)
    if group is not None:
        attributes[group] = None
        hashed[group] = None
    keeps_all = name in query.preserved or _joined_without(query, name) or _counts_rows(query, name)
    indexes = tuple(hashed), tuple(ranked), tuple(celled)
    return Storage(algorithm, query.columns_read(name), tuple(attributes), *indexes, keeps_all, lazy)


def _joined_without(query: JoinQuery, name: str) -> bool:
    """Whether a tuple that a later stream has no partner for may be in a result all the same."""
    later = [each for each in query.predicates if step_of(each, query.names) != name] if query.stepwise else []
    return any(name in predicate_streams(predicate) for predicate in later)


def _counts_rows(query: JoinQuery, name: str) -> bool:
    return isinstance(query.stream(name).window, RowWindow)


def row_group(query: JoinQuery, name: str) -> Group | None:
    """What a row window per key counts by; None for any other window."""
    window = query.stream(name).window
    if not isinstance(window, RowWindow) or window.per == "stream":
        return None
    sides = [side for p in query.predicates if isinstance(p, Equality) for side in (p.left, p.right)]
    own = dict.fromkeys(side for side in sides if streams_of(side) == {name})
    if not own:
        raise PlanError(
            f"stream {name!r} has a window of {window}, but no equality ties it to another stream, so it has no key. "
            f"Use rows({window.count}) for the whole stream."
        )
    return Group(tuple(own))


def _attributes(name: str, levels: Sequence[Level]) -> Iterable[Attribute]:
    """Every number that some probe reads of a stored or arriving tuple of ``name``."""
    return (attribute for level in levels for attribute in _read_by(level) if _owner(attribute) == name)


def _read_by(level: Level) -> Iterable[Attribute]:
    yield from _read_to_find(level.access)
    for check in level.checks:
        if isinstance(check, Equality):
            yield from (Key((check.left,)), Key((check.right,)))
        elif isinstance(check, Band):
            yield from (Number(check.left), Number(check.right))
        elif isinstance(check, Similarity):
            yield from (Vector(check.left), Vector(check.right))


def _read_to_find(access: Access) -> Iterable[Attribute]:
    if isinstance(access, PairAccess):
        yield from _read_to_find(access.key)
        yield from _read_to_find(access.band)
    elif isinstance(access, AnyAccess):
        yield from (option for pair in access.options for option in pair)
    elif isinstance(access, KeyAccess):
        yield access.own
        # the probing side of a single key is stored as a number of its own stream; a key over several
        # bound streams is combined from the codes of its parts
        yield from (
            (Key((expression,)) for expression in access.bound)
            if not _one_stream(access.bound)
            else (Key(access.bound),)
        )
    elif not isinstance(access, TimeAccess):
        yield access.own
        yield access.bound


def _one_stream(expressions: Sequence[Expression]) -> bool:
    return len({stream_of(expression) for expression in expressions}) == 1


def _owner(attribute: Attribute) -> str:
    return stream_of(attribute.expressions[0] if isinstance(attribute, Key | Group | Option) else attribute.expression)
