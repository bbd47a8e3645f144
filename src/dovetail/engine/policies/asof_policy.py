"""The memory policy of an as-of join, by its budget."""

from dovetail.engine.policies.asof.holdings import Holdings
from dovetail.engine.policies.asof.limit import Limit
from dovetail.engine.policies.asof.on_disk import OnDisk
from dovetail.engine.policies.asof.policy import AllInMemory
from dovetail.engine.policies.spill.files import FileStore
from dovetail.engine.policies.spill.store import PartStore
from dovetail.plan.physical import Plan


def asof_policy(plan: Plan, holdings: Holdings, store: PartStore | None) -> AllInMemory:
    """No limit without a budget; parts go to files unless another ``store`` is given."""
    budget = plan.query.budget
    if budget is None:
        return AllInMemory()
    return (
        Limit(budget, holdings)
        if budget.policy == "fail"
        else OnDisk(plan, holdings, store or FileStore(budget.folder))
    )
