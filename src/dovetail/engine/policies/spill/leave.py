"""Rows of a part that come out on their own, once everything they could have met has been joined with them."""

from dovetail.engine.deliver.project import Projection
from dovetail.engine.policies.memory.insides import Insides, Rows
from dovetail.engine.policies.spill.loaded import Loaded, loaded
from dovetail.engine.policies.spill.part import Part
from dovetail.engine.policies.spill.store import PartStore


def leave(inside: Insides, store: PartStore, part: Part, others: int, limit: int) -> Rows:
    """Unmatched tuples that no partner from ``others`` on can join; semi rows whose time is certain at ``limit``."""
    name = part.stream
    if name in inside.unmatched and part.span.earliest + inside.widths[name] < others:
        with loaded(inside, store, part) as found:
            yield from _unmatched(inside, name, found, others)
    elif inside.semi is not None and name == inside.plan().query.names[0]:
        with loaded(inside, store, part) as found:
            _semi(inside, name, found, others, limit)


def _unmatched(inside: Insides, name: str, found: Loaded, others: int) -> Rows:
    ids, times = found.unmatched[name].leaving(others)
    for rows in Projection(inside.plan(), {**inside.windows, name: found.window}).alone(name, ids, times):
        yield from inside.hold.give_alone(rows)


def _semi(inside: Insides, name: str, found: Loaded, others: int, limit: int) -> None:
    assert found.semi is not None
    leaving = found.window.id_from(others - inside.widths[name])
    ids, times = found.semi.due(limit, leaving)
    for rows in Projection(inside.plan(), {**inside.windows, name: found.window}).alone(name, ids, times):
        inside.hold.keep(rows)
