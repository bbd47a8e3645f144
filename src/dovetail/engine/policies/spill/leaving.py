"""Rows that come out on their own, where tuples are on disk: after a pass, when no join is owed among them.

Of two streams, a note on a tuple tells whether it has a partner, so each part is read once and those in memory leave as
ever. In a join by stream a tuple looks for its partners when it leaves, in memory and on disk, and which rows begin a
combination is known when the streams before have left: so all leave here, stream by stream in the order of the query.
"""

from collections.abc import Sequence

from dovetail.engine.deliver.unmatched import Semi
from dovetail.engine.policies.memory.policy import Reach, others
from dovetail.engine.policies.spill.loaded import in_memory
from dovetail.engine.policies.spill.missed import Owed, Source
from dovetail.engine.policies.stages import Rows, Stages


def leave(stages: Stages, owed: Owed, reach: Reach) -> Rows:
    """Unmatched tuples that no partner to come can join; semi rows whose time is certain."""
    for name in stages.store.windows:
        memory: Sequence[Source] = (None,) if stages.store.plan.query.stepwise else ()
        for source in (*memory, *owed.parts_of(name)):
            if _may_leave(stages, name, source, others(reach, name)):
                with owed.opened(name, source) as place:
                    members = {each: in_memory(stages, each) for each in stages.store.windows} | {name: place}
                    exit = stages.exit.over(stages.store, members, owed.beside)
                    yield from exit.leave(name, others(reach, name), min(reach.values()))


def _may_leave(stages: Stages, name: str, source: Source, others: int) -> bool:
    """Whether some tuple can, as far as that can be told without reading it."""
    if source is None:
        return len(stages.store.windows[name]) > 0
    keepers = stages.exit.keepers(name)
    return any(isinstance(each, Semi) or source.span.earliest + each.width < others for each in keepers)
