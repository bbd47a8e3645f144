"""How rows without partners are found in a join of one stream after the other.

    A LEFT JOIN B ON A.k = B.k LEFT JOIN C ON A.k = C.k

A combination that lacks a partner is certain when its rows have come and the streams that it lacks have passed what
could join it. Whoever is the last to make it so looks for it, from tuples of one stream: back to the combinations of
the streams before, then on from stream to stream, with partners where there are some and without where there are none.

    c comes:        back to A    no b, and none can come:    (a, -, c)
    C passes b:     back to A    on to C, none:              (a, b, -)
    B passes a:     on to B, none       on to C, c:          (a, -, c)

Which conditions hold depends on who is there: those of a missing stream do not, so each set of present streams has
steps of its own. Complete combinations are not made here: they came out when their last member was stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dovetail.model.algorithm import Algorithm
from dovetail.model.intervals import outlasting
from dovetail.model.predicate import Band, Equality, Predicate, Residual, Similarity, predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.steps import needed_by, step_of
from dovetail.plan.choose_probe_order import choose_probe_order
from dovetail.plan.join_graph import applicable, close_equalities, key_classes
from dovetail.plan.levels import level_of, levels_of, to_verify
from dovetail.plan.physical import Attribute, Key, Level, Number, Stage, Steps, Vector, Way, key_access

Present = frozenset[str]
_HIDING = ("semi", "anti")  # words of streams whose rows are in no combination


def plan_steps(query: JoinQuery, algorithms: Mapping[str, Algorithm]) -> Steps:
    """The ways of tuples to what they lack, and what each stage on them looks for."""
    stages = dict(_stages(query, algorithms))
    lasting = outlasting(query.streams, query.predicates)
    ways: dict[str, list[Way]] = {name: [] for name in query.names}
    for name in (query.names[0], *query.keeping):
        ways[name].append(Way(frozenset()))
    for name, present in stages:
        if query.words[name] != "anti":  # one that comes makes nothing certain
            complete = len(present) == query.names.index(name)
            ways[name].append(Way(present, _back(query, name, present, algorithms), complete and name in lasting))
    first = next(at for at, name in enumerate(query.names) if query.words.get(name, "inner") != "inner")
    return Steps({name: tuple(some) for name, some in ways.items()}, stages, frozenset(query.names[first:]))


def _stages(query: JoinQuery, algorithms: Mapping[str, Algorithm]) -> Iterator[tuple[tuple[str, Present], Stage]]:
    """Every step to a stream, from every set of streams that may be there then and that it can join."""
    reached = {frozenset(query.names[:1])}
    for name, word in query.words.items():
        found = {present: _stage(query, name, present, algorithms) for present in sorted(reached, key=sorted)}
        joined = {present: stage for present, stage in found.items() if stage is not None}
        yield from (((name, present), stage) for present, stage in joined.items())
        longer = {present | {name} for present in joined} if word not in _HIDING else set()
        begun = {frozenset({name})} if name in query.keeping else set()
        reached = longer | (reached if word not in ("inner", "right") else set()) | begun


def _stage(query: JoinQuery, name: str, present: Present, algorithms: Mapping[str, Algorithm]) -> Stage | None:
    """The step to a stream; None if one of its conditions needs a stream that is missing."""
    there = present | {name}
    own = [predicate for predicate in query.predicates if step_of(predicate, query.names) == name]
    if any(not needed_by(predicate) <= there for predicate in own):
        return None
    known = [
        each for each in query.predicates if step_of(each, query.names) in there and predicate_streams(each) <= there
    ]
    usable = list(applicable(close_equalities(known), present, name))
    level = level_of(name, usable, algorithms[name], query.names[0])
    with_null = (*(each for each in own if each not in known), *_own_conditions(query, name))
    stage = _checked(level, [each for each in own if each in known], with_null)
    return replace(stage, verify=tuple(dict.fromkeys((*stage.verify, *_not_implied(level, known, name, query.names)))))


def _not_implied(level: Level, known: Sequence[Predicate], name: str, names: Sequence[str]) -> Iterator[Equality]:
    """The stream's equalities that follow neither from its access nor from what the streams before agree on.

    Of ``A.k = C.k AND B.k = C.k`` an access by one leaves the other to be checked, unless B was tied by ``A.k = B.k``.
    """
    access = key_access(level.access)
    found = [Equality(*sides) for sides in zip(access.own.expressions, access.bound, strict=True)] if access else []
    classes = key_classes([*(each for each in known if step_of(each, names) != name), *found])
    for each in known:
        if isinstance(each, Equality) and not any({each.left, each.right} <= {*group} for group in classes):
            yield each


def _back(query: JoinQuery, name: str, present: Present, algorithms: Mapping[str, Algorithm]) -> tuple[Stage, ...]:
    """The steps from a stream to those that are present before it; the first of them is joined to nothing."""
    names = [each for each in query.names if each in present or each == name]
    others = names[1:]
    own = [predicate for predicate in query.predicates if step_of(predicate, query.names) in others]
    there = [predicate for predicate in own if predicate_streams(predicate) <= {*names}]
    alone = tuple(condition for each in others for condition in _own_conditions(query, each))
    known = close_equalities(there)
    found: list[Stage] = []
    bound = frozenset({name})
    for level in levels_of(name, choose_probe_order(name, names, known), known, algorithms):
        bound |= {level.stream}
        decided = [each for each in there if level.stream in predicate_streams(each) <= bound]
        found.append(_checked(level, decided))
    missing = tuple(each for each in own if each not in there)
    return (*found[:-1], replace(found[-1], with_null=(*alone, *missing)))


def _own_conditions(query: JoinQuery, name: str) -> tuple[Residual, ...]:
    """Conditions on a stream alone, where tuples that fail them are stored because they come out by themselves."""
    return tuple(map(Residual, query.filters_of(name))) if name in query.keeping else ()


def _checked(level: Level, decided: Sequence[Predicate], with_null: tuple[Predicate, ...] = ()) -> Stage:
    compared = dict.fromkeys(attribute for predicate in decided for attribute in _operands(predicate))
    return Stage(level, tuple(compared), tuple(to_verify(decided, [level])), with_null)


def _operands(predicate: Predicate) -> Iterator[Attribute]:
    """The numbers without which a predicate does not hold."""
    if isinstance(predicate, Residual):
        return
    kind: type[Key | Number | Vector] = {Equality: Key, Band: Number, Similarity: Vector}[type(predicate)]
    for side in (predicate.left, predicate.right):
        yield Key((side,)) if kind is Key else kind(side)  # type: ignore[arg-type]
