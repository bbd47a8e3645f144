"""The physical plan of one multi-way operator: what each stream stores, and how each arrival probes.

    A.k = B.k AND ABS(B.x - C.x) <= 2          A: hash on k     B: hash on k, sorted ...     C: sorted on x

    arrivals of C probe B first (sorted on x: Band), then A (hash on k: Equality with the bound B)

An ``Attribute`` is a number per stored tuple that kernels compare: a key's code, a band's value, a
vector. It is derived from the stored columns, so it is never part of the state.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dovetail.model.algorithm import Algorithm
from dovetail.model.expression import Expression
from dovetail.model.predicate import Alternatives, Band, Equality, Predicate, Similarity
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Tie

LARGEST_BLOCK = 1 << 17  # of a stream, about so many tuples are joined at a time at most


@dataclass(frozen=True)
class Key:
    """One or several equality operands of a stream as one 64-bit code."""

    expressions: tuple[Expression, ...]


def key_text(key: "Key | Option") -> str:
    """A key's name in statistics: that of its expression, or of all of them."""
    return " & ".join(map(str, key.expressions))


@dataclass(frozen=True)
class Number:
    """An operand of a band, as int64 or float64."""

    expression: Expression


@dataclass(frozen=True)
class Vector:
    """An operand of a similarity, as a row of a float64 matrix."""

    expression: Expression


@dataclass(frozen=True)
class Group:
    """All equality operands of a stream as one code, NULL like a value: what a row window per key counts by."""

    expressions: tuple[Expression, ...]


@dataclass(frozen=True)
class Option:
    """Equality operands of one of several alternatives as one code; where one is NULL or NaN, a code like no other."""

    expressions: tuple[Expression, ...]


Attribute = Key | Number | Vector | Group | Option


@dataclass(frozen=True)
class Pair:
    """A key and a number, to be sorted by: the numbers of one key stand side by side, in order."""

    key: Key
    number: Number


Ranking = Key | Number | Pair


@dataclass(frozen=True)
class Cells:
    """A number in cells of some width, to be hashed by: how bands with two ends find their tuples."""

    number: Number
    width: float


@dataclass(frozen=True)
class KeyAccess:
    """Find the next stream's tuples by equality: ``own`` is its key, ``bound`` the matching expressions."""

    own: Key
    bound: tuple[Expression, ...]
    indexed: bool


@dataclass(frozen=True)
class BandAccess:
    """Find them by a range of values; ``own`` is the next stream's operand, ``bound`` the other."""

    own: Number
    bound: Number
    bound_stream: str
    band: Band
    indexed: bool
    cells: Cells | None = None


@dataclass(frozen=True)
class PairAccess:
    """Find them by equality and a range of values in one search, where both narrow them down."""

    key: KeyAccess
    band: BandAccess

    indexed = True

    @property
    def own(self) -> Pair:
        return Pair(self.key.own, self.band.own)


@dataclass(frozen=True)
class AnyAccess:
    """Find them by any of several equalities; ``options`` are pairs of the next stream's code and the bound one's."""

    options: tuple[tuple[Option, Option], ...]
    bound_stream: str
    alternatives: Alternatives


@dataclass(frozen=True)
class SimilarityAccess:
    """Find them by matrix products of a bound stream's vectors with the next stream's."""

    own: Vector
    bound: Vector
    bound_stream: str
    similarity: Similarity


@dataclass(frozen=True)
class TimeAccess:
    """Nothing but time narrows them down: every tuple in range is a candidate."""


Access = KeyAccess | BandAccess | PairAccess | AnyAccess | SimilarityAccess | TimeAccess


def key_access(access: Access) -> KeyAccess | None:
    """The part of an access that is an equality; None if it has none."""
    return access.key if isinstance(access, PairAccess) else access if isinstance(access, KeyAccess) else None


@dataclass(frozen=True)
class Level:
    """One step of a probe: the next stream, how its candidates are found, what else must hold.

    ``ties`` are the bound streams that some predicate of this step relates to it.
    """

    stream: str
    access: Access
    checks: tuple[Predicate, ...]
    ties: frozenset[str] = frozenset()

    @property
    def tie(self) -> Tie:
        """The step's name in statistics."""
        return self.ties, self.stream


@dataclass(frozen=True)
class Storage:
    """What one stream keeps: its algorithm, the columns, and the attributes with those that are indexed.

    ``keeps_all``: tuples that can never match are stored as well, because they count in a row window or
    come out as unmatched rows. ``lazy``: what has left the window is forgotten when the window is probed.
    """

    algorithm: Algorithm
    columns: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    hashed: tuple[Key | Group | Option, ...]
    sorted: tuple[Ranking, ...]
    celled: tuple[Cells, ...] = ()
    keeps_all: bool = False
    lazy: bool = False


@dataclass(frozen=True)
class Stage:
    """A step over tuples some of which cannot match: ``compared`` are the numbers that both must have.

    ``with_null`` are conditions on a stream that is missing, which may hold all the same.
    """

    level: Level
    compared: tuple[Attribute, ...]
    verify: tuple[Equality, ...]
    with_null: tuple[Predicate, ...] = ()


@dataclass(frozen=True)
class Way:
    """How tuples of a stream find the combinations of the streams ``present`` before it whose partners they are.

    Without any it is that of the first stream's tuples, or of those that begin a combination of their own.
    ``outlasts``: they stay at least as long as the first stream's tuple in it.
    """

    present: frozenset[str]
    stages: tuple[Stage, ...] = ()
    outlasts: bool = False


@dataclass(frozen=True)
class Steps:
    """Of a join of one stream after the other: the ways back of each stream's tuples, and those onwards.

    ``stages[stream, present]`` is how partners of combinations of the streams ``present`` are found; there are none if
    it has no entry. Tuples of ``kept`` streams are asked for until all of the first that they can meet have left.
    """

    ways: Mapping[str, tuple[Way, ...]]
    stages: Mapping[tuple[str, frozenset[str]], Stage]
    kept: frozenset[str]

    @property
    def levels(self) -> list[Level]:
        """All steps, for whoever stores what they read."""
        back = [stage for ways in self.ways.values() for way in ways for stage in way.stages]
        return [stage.level for stage in (*back, *self.stages.values())]


@dataclass(frozen=True)
class Plan:
    """A query with the storage of every stream and the probe order of every arrival."""

    query: JoinQuery
    storage: Mapping[str, Storage]
    probes: Mapping[str, tuple[Level, ...]]
    verify: tuple[Equality, ...]
    steps: Steps | None = None

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns the engine needs of each stream, its time column first."""
        return {name: storage.columns for name, storage in self.storage.items()}

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        from dovetail.plan.asof_report import asof_report
        from dovetail.plan.assume import assume
        from dovetail.plan.calibrate import load_weights
        from dovetail.plan.display import plan_html
        from dovetail.plan.report import plan_report

        if self.query.answered is not None:
            return plan_html(asof_report(self.query))
        return plan_html(plan_report(self, assume(self.query), load_weights(), by_rule=True))
