"""The steps of a probe: how the candidates of the next stream are found, and what is checked on them."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from dovetail.model.algorithm import Algorithm
from dovetail.model.expression import Expression, streams_of
from dovetail.model.predicate import Alternatives, Band, Equality, Predicate, Similarity, predicate_streams
from dovetail.plan.choose_algorithm import cell_width
from dovetail.plan.join_graph import applicable
from dovetail.plan.physical import (
    Access,
    AnyAccess,
    BandAccess,
    Cells,
    Key,
    KeyAccess,
    Level,
    Number,
    Option,
    PairAccess,
    SimilarityAccess,
    TimeAccess,
    Vector,
    key_access,
)


def levels_of(
    arriving: str, order: Sequence[str], predicates: Sequence[Predicate], algorithms: Mapping[str, Algorithm]
) -> tuple[Level, ...]:
    """The steps of an arriving stream, in the order of the streams that it probes."""
    bound = frozenset({arriving})
    levels = []
    for name in order:
        levels.append(level_of(name, list(applicable(predicates, bound, name)), algorithms[name], arriving))
        bound |= {name}
    return tuple(levels)


def level_of(name: str, usable: Sequence[Predicate], algorithm: Algorithm, arriving: str) -> Level:
    """The step to a stream by predicates between it and what is bound."""
    access, used = _access(name, usable, algorithm, arriving)
    ties = frozenset(stream for predicate in usable for stream in predicate_streams(predicate)) - {name}
    settled = set(used)
    return Level(name, access, tuple(predicate for predicate in usable if predicate not in settled), ties)


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
            access = SimilarityAccess(Vector(own), Vector(bound), stream_of(bound), predicate)
            return access, [predicate]
    return TimeAccess(), []


def _key_access(name: str, equalities: Sequence[Equality], indexed: bool, arriving: str) -> KeyAccess:
    """One pair per own expression; further equalities of the same expression follow by transitivity.

    If possible the arriving stream is the other side: its tuples lie side by side, those found on the way do not.
    """
    sides = [_sides(name, equality.left, equality.right) for equality in equalities]
    sides.sort(key=lambda pair: stream_of(pair[1]) != arriving)
    pairs = dict(reversed(sides))
    ordered = sorted(pairs, key=str)
    return KeyAccess(Key(tuple(ordered)), tuple(pairs[own] for own in ordered), indexed)


def _band_access(name: str, band: Band, algorithm: Algorithm) -> BandAccess:
    own, bound = _sides(name, band.left, band.right)
    width = cell_width(band) if algorithm == "hash" else None
    cells = None if width is None else Cells(Number(own), width)
    return BandAccess(
        Number(own), Number(bound), stream_of(bound), band, algorithm == "sorted" or cells is not None, cells
    )


def _any_access(name: str, alternatives: Alternatives) -> AnyAccess:
    """The disjunction itself is still checked: its branches may ask for more than equal keys."""
    options, others = [], set()
    for branch in alternatives.branches:
        own, bound = zip(*(_sides(name, each.left, each.right) for each in branch), strict=True)
        options.append((Option(own), Option(bound)))
        others.add(stream_of(bound[0]))
    return AnyAccess(tuple(options), others.pop(), alternatives)


def _sides(name: str, left: Expression, right: Expression) -> tuple[Expression, Expression]:
    return (left, right) if streams_of(left) == {name} else (right, left)


def stream_of(expression: Expression) -> str:
    """The only stream that an expression is about."""
    (name,) = streams_of(expression)
    return name


def to_verify(predicates: Sequence[Predicate], levels: Sequence[Level]) -> Iterable[Equality]:
    """Equalities whose codes are hashes, so that equal codes still need equal values."""
    combined = {
        expression
        for level in levels
        if (access := key_access(level.access)) is not None and len(access.bound) > 1
        for expression in (*access.own.expressions, *access.bound)
    }
    for predicate in predicates:
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
