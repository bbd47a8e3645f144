"""Rows that come out on their own, where tuples are on disk: after a pass, when no join is owed among them.

Of two streams, a note on a tuple tells whether it has a partner, so each part is read once and those in memory leave as
ever. In a join by stream partners are looked for in memory and on disk, for all that has become certain since the last
pass.
"""

from dovetail.engine.deliver.unmatched import Semi
from dovetail.engine.policies.memory.policy import Reach, others
from dovetail.engine.policies.spill.loaded import in_memory
from dovetail.engine.policies.spill.missed import Owed
from dovetail.engine.policies.spill.part import Part
from dovetail.engine.policies.stages import Rows, Stages


def leave(stages: Stages, owed: Owed, reach: Reach) -> Rows:
    """Unmatched tuples that no partner to come can join; semi rows whose time is certain."""
    memory = {each: in_memory(stages, each) for each in stages.store.windows}
    if stages.store.plan.query.stepwise:
        yield from stages.exit.over(stages.store, memory, owed.beside).become_certain(reach, {})
        return
    for part in owed.parts:
        if _may_leave(stages, part, others(reach, part.stream)):
            with owed.opened(part.stream, part) as place:
                exit = stages.exit.over(stages.store, memory | {part.stream: place}, owed.beside)
                yield from exit.leave(part.stream, others(reach, part.stream), min(reach.values()))


def _may_leave(stages: Stages, part: Part, others: int) -> bool:
    """Whether some tuple can, as far as that can be told without reading it."""
    keepers = stages.exit.keepers(part.stream)
    return any(isinstance(each, Semi) or part.span.earliest + each.width < others for each in keepers)
