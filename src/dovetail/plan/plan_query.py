"""From a bound query to a physical plan: storage per stream, a probe per arriving stream."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import pyarrow as pa

from dovetail.errors import PlanError
from dovetail.model.algorithm import Algorithm
from dovetail.model.expression import Expression, streams_of
from dovetail.model.predicate import Alternatives, Band, Equality, Predicate, Similarity, predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow
from dovetail.plan.choose_algorithm import cell_width
from dovetail.plan.join_graph import applicable, close_equalities
from dovetail.plan.physical import (
    Access,
    AnyAccess,
    Attribute,
    BandAccess,
    Cells,
    Group,
    Key,
    KeyAccess,
    Level,
    Number,
    Option,
    PairAccess,
    Plan,
    Ranking,
    SimilarityAccess,
    Storage,
    TimeAccess,
    Vector,
    key_access,
)
from dovetail.plan.plan_asof import plan_asof
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
    decided = decide(Draft(query, predicates))
    algorithms = {**decided.algorithms, **(algorithms or {})}
    orders = {**decided.orders, **(orders or {})}
    probes = {name: _levels(name, orders[name], predicates, algorithms) for name in query.names}
    lazy = decided.lazy if lazy is None else lazy
    storage = {name: _storage(query, name, algorithms[name], probes, name in lazy) for name in query.names}
    return Plan(query, storage, probes, tuple(_to_verify(query, probes)))


def _levels(
    arriving: str, order: Sequence[str], predicates: Sequence[Predicate], algorithms: Mapping[str, Algorithm]
) -> tuple[Level, ...]:
    bound = frozenset({arriving})
    levels = []
    for name in order:
        usable = list(applicable(predicates, bound, name))
        access, used = _access(name, usable, algorithms[name], arriving)
        ties = frozenset(stream for predicate in usable for stream in predicate_streams(predicate)) - {name}
        settled = set(used)
        levels.append(Level(name, access, tuple(predicate for predicate in usable if predicate not in settled), ties))
        bound |= {name}
    return tuple(levels)


def _access(
    name: str, usable: Sequence[Predicate], algorithm: Algorithm, arriving: str
) -> tuple[Access, Sequence[Predicate]]:
    """How candidates of ``name`` are found, and the predicates that this already settles."""
    equalities = [predicate for predicate in usable if isinstance(predicate, Equality)]
    bands = [predicate for predicate in usable if isinstance(predicate, Band)]
    bands.sort(key=lambda band: (band.low is None) + (band.high is None))
    if algorithm == "sorted" and equalities and bands:
        key = _key_access(name, equalities, True, arriving)
        return PairAccess(key, _band_access(name, bands[0], algorithm)), [*equalities, bands[0]]
    if algorithm == "sorted" and bands:
        return _band_access(name, bands[0], algorithm), bands[:1]
    if equalities:
        return _key_access(name, equalities, algorithm in ("hash", "sorted"), arriving), equalities
    if bands and (algorithm != "hash" or cell_width(bands[0]) is not None):
        return _band_access(name, bands[0], algorithm), bands[:1]
    for predicate in usable:
        if isinstance(predicate, Alternatives) and algorithm == "hash":
            return _any_access(name, predicate), []
    if bands:
        return _band_access(name, bands[0], algorithm), bands[:1]
    for predicate in usable:
        if isinstance(predicate, Similarity):
            own, bound = _sides(name, predicate.left, predicate.right)
            access = SimilarityAccess(Vector(own), Vector(bound), _stream(bound), predicate)
            return access, [predicate]
    return TimeAccess(), []


def _key_access(name: str, equalities: Sequence[Equality], indexed: bool, arriving: str) -> KeyAccess:
    """One pair per own expression; further equalities of the same expression follow by transitivity.

    If possible the arriving stream is the other side: its tuples lie side by side, those found on the way do not.
    """
    sides = [_sides(name, equality.left, equality.right) for equality in equalities]
    sides.sort(key=lambda pair: _stream(pair[1]) != arriving)
    pairs = dict(reversed(sides))
    ordered = sorted(pairs, key=str)
    return KeyAccess(Key(tuple(ordered)), tuple(pairs[own] for own in ordered), indexed)


def _band_access(name: str, band: Band, algorithm: Algorithm) -> BandAccess:
    own, bound = _sides(name, band.left, band.right)
    width = cell_width(band) if algorithm == "hash" else None
    cells = None if width is None else Cells(Number(own), width)
    return BandAccess(
        Number(own), Number(bound), _stream(bound), band, algorithm == "sorted" or cells is not None, cells
    )


def _any_access(name: str, alternatives: Alternatives) -> AnyAccess:
    """The disjunction itself is still checked: its branches may ask for more than equal keys."""
    options, others = [], set()
    for branch in alternatives.branches:
        own, bound = zip(*(_sides(name, each.left, each.right) for each in branch), strict=True)
        options.append((Option(own), Option(bound)))
        others.add(_stream(bound[0]))
    return AnyAccess(tuple(options), others.pop(), alternatives)


def _sides(name: str, left: Expression, right: Expression) -> tuple[Expression, Expression]:
    return (left, right) if streams_of(left) == {name} else (right, left)


def _stream(expression: Expression) -> str:
    (name,) = streams_of(expression)
    return name


def _storage(
    query: JoinQuery, name: str, algorithm: Algorithm, probes: Mapping[str, Sequence[Level]], lazy: bool
) -> Storage:
    attributes = dict.fromkeys(_attributes(name, probes))
    accesses = [level.access for levels in probes.values() for level in levels if level.stream == name]
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
    keeps_all = name in query.preserved or isinstance(query.stream(name).window, RowWindow)
    indexes = tuple(hashed), tuple(ranked), tuple(celled)
    return Storage(algorithm, query.columns_read(name), tuple(attributes), *indexes, keeps_all, lazy)


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


def _attributes(name: str, probes: Mapping[str, Sequence[Level]]) -> Iterable[Attribute]:
    """Every number that some probe reads of a stored or arriving tuple of ``name``."""
    for levels in probes.values():
        for level in levels:
            for attribute in _read_by(level):
                if _owner(attribute) == name:
                    yield attribute


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
    return len({_stream(expression) for expression in expressions}) == 1


def _owner(attribute: Attribute) -> str:
    return _stream(attribute.expressions[0] if isinstance(attribute, Key | Group | Option) else attribute.expression)


def _to_verify(query: JoinQuery, probes: Mapping[str, Sequence[Level]]) -> Iterable[Equality]:
    """Equalities whose codes are hashes, so that equal codes still need equal values."""
    combined = {
        expression
        for levels in probes.values()
        for level in levels
        if (access := key_access(level.access)) is not None and len(access.bound) > 1
        for expression in (*access.own.expressions, *access.bound)
    }
    for predicate in query.predicates:
        if isinstance(predicate, Equality) and (
            not is_exact(predicate.left.type) or predicate.left in combined or predicate.right in combined
        ):
            yield predicate


def is_exact(type_: pa.DataType) -> bool:
    """Whether a single value of this type fits into its 64-bit code without hashing."""
    if pa.types.is_decimal128(type_):
        return bool(type_.precision <= 18)
    return not (
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
        or pa.types.is_fixed_size_binary(type_)
        or pa.types.is_decimal(type_)
    )
