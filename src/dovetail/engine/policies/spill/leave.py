"""Rows of a part that come out on their own, once everything they could have met has been joined with them."""

from dovetail.engine.deliver.unmatched import Semi
from dovetail.engine.policies.spill.loaded import loaded
from dovetail.engine.policies.spill.part import Part
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Rows, Stages


def leave(stages: Stages, store: PartStore, part: Part, others: int, limit: int) -> Rows:
    """Unmatched tuples that no partner from ``others`` on can join; semi rows whose time is certain at ``limit``."""
    name, exit = part.stream, stages.exit
    if any(isinstance(each, Semi) or part.span.earliest + each.width < others for each in exit.keepers(name)):
        with loaded(stages, store, part) as found:
            windows = {**stages.store.windows, name: found.window}
            own = exit.over(stages.store, windows, found.keepers)
            yield from own.leave(name, others, limit)
