"""The memory policy of an engine, by its budget."""

from dovetail.engine.policies.memory.fail import Fail
from dovetail.engine.policies.memory.policy import MemoryPolicy, Unlimited
from dovetail.engine.policies.memory.trim import Trim
from dovetail.engine.policies.shed.shedding import Shedding
from dovetail.engine.policies.spill.files import FileStore
from dovetail.engine.policies.spill.spill import Spill
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Stages
from dovetail.model.budget import Budget


def memory_policy(
    stages: Stages, budget: Budget | None, shedding: Shedding | None, store: PartStore | None
) -> MemoryPolicy:
    """``Unlimited`` without a memory budget; parts go to files unless another ``store`` is given."""
    if budget is None or budget.memory is None:
        return Unlimited()
    if budget.policy == "fail":
        return Fail(stages, budget)
    if budget.sheds:
        return Trim(stages, budget, shedding)
    return Spill(stages, budget, store or FileStore(budget.folder))
