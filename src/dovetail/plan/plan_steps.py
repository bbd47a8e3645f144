"""How rows without partners are found in a join of one stream after the other.

    A LEFT JOIN B ON A.k = B.k LEFT JOIN C ON A.k = C.k

A combination that lacks a partner is certain when the first of its members leaves, so the member that leaves first
looks for it: it gathers the streams joined before its own, then goes on from stream to stream, with partners where
there are some and without where there are none. Streams whose rows stay at least as long as the first one's need not.

    a leaves:   B?   partners b:  C?  none:  (a, b, -)           b leaves:   A?   a, still there:   C?  none:  (a, b, -)
                     none:        C?  partners c:  (a, -, c)     none:  (a, -, -)

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
from dovetail.plan.physical import Attribute, Key, Level, Number, Stage, Steps, Vector, key_access

Present = frozenset[str]
_HIDING = ("semi", "anti")  # words of streams whose rows are in no combination


def plan_steps(query: JoinQuery, algorithms: Mapping[str, Algorithm]) -> Steps:
    """The ways of tuples that leave, and what each stage on them looks for."""
    names, words = query.names, query.words
    stages = {
        (name, present): stage
        for name, present in _reachable(query)
        if (stage := _stage(query, name, present, algorithms)) is not None
    }
    first = next(at for at, name in enumerate(names) if words.get(name, "inner") != "inner")
    leaving = [at for at in range(len(names)) if _leaves(query, at)]
    lasting = outlasting(query.streams, query.predicates)
    gathers = {names[at]: _gather(query, names[: at + 1], algorithms) for at in leaving if names[at] not in lasting}
    alone = {name: _back(query, name, algorithms) for name in query.keeping}
    kept = {names[at] for at in leaving if names[at] in lasting}
    return Steps(gathers, stages, frozenset(names[first:]) | kept, alone)


def _back(query: JoinQuery, name: str, algorithms: Mapping[str, Algorithm]) -> tuple[Stage, ...]:
    """The steps from a stream to all that are joined before it, if a combination can have them all."""
    names = query.names[: query.names.index(name) + 1]
    return () if any(query.words.get(each) in _HIDING for each in names) else _gather(query, names, algorithms)


def _leaves(query: JoinQuery, at: int) -> bool:
    """Whether a stream may be the last member of a combination before the first one that is missing."""
    words = list(query.words.values())
    return all(word not in _HIDING for word in words[:at]) and any(word != "inner" for word in words[at:])


def _reachable(query: JoinQuery) -> Iterator[tuple[str, Present]]:
    """Every stream to be joined, with every set of streams that may be there then."""
    reached = {frozenset(query.names[:1])}
    for name, word in query.words.items():
        yield from ((name, present) for present in reached)
        longer = {present | {name} for present in reached} if word not in _HIDING else set()
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


def _gather(query: JoinQuery, names: Sequence[str], algorithms: Mapping[str, Algorithm]) -> tuple[Stage, ...]:
    """The steps from a stream to all that are joined before it."""
    *_, last = names
    own = [predicate for predicate in query.predicates if step_of(predicate, query.names) in names]
    known = close_equalities(own)
    found: list[Stage] = []
    bound = frozenset({last})
    for level in levels_of(last, choose_probe_order(last, names, known), known, algorithms):
        bound |= {level.stream}
        decided = [each for each in own if level.stream in predicate_streams(each) <= bound]
        alone = _own_conditions(query, level.stream) + (() if found else _own_conditions(query, last))
        found.append(_checked(level, decided, alone))
    return tuple(found)


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
