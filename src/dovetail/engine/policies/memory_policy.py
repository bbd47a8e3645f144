"""Who keeps the memory of an engine, by the policy of its budget."""

from dovetail.engine.policies.memory.fail import Fail
from dovetail.engine.policies.memory.insides import Insides
from dovetail.engine.policies.memory.keeper import Keeper
from dovetail.engine.policies.memory.trim import Trim
from dovetail.engine.policies.spill.files import FileStore
from dovetail.engine.policies.spill.spill import Spill
from dovetail.engine.policies.spill.store import PartStore
from dovetail.model.budget import Budget


def keeper_of(inside: Insides, budget: Budget | None, store: PartStore | None) -> Keeper | None:
    """None if memory has no limit; parts go to files unless another ``store`` is given."""
    if budget is None or budget.memory is None:
        return None
    if budget.policy == "fail":
        return Fail(inside, budget)
    if budget.sheds:
        return Trim(inside, budget)
    return Spill(inside, budget, store or FileStore(budget.folder))
