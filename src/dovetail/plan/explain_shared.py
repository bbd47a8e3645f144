"""The operators of many queries in words: who shares one, who runs alone and why, and what each query adds."""

from collections.abc import Iterator

from dovetail.plan.asof_report import asof_report
from dovetail.plan.assume import assume
from dovetail.plan.calibrate import load_weights
from dovetail.plan.explain import Report, explain
from dovetail.plan.group_queries import Groups
from dovetail.plan.report import plan_report
from dovetail.plan.share_queries import Member, SharedPlan

_ON_SPARK = "  (on Spark it orders the work within a batch, whose results leave when it ends)"
_EMBEDDED = "  (embedded, all operators run on one thread, which the schedule gives to one query after the other)"


def explain_shared(groups: Groups) -> str:
    """One part per operator: its queries, then its plan."""
    plans = groups.plans
    head = f"{len(groups.members)} queries, {len(plans)} operators, schedule {groups.schedule}"
    parts = ["\n".join([*_queries(groups, plan), *_operator(plan)]) for plan in plans.values()]
    return "\n\n".join(["\n".join([head, _ON_SPARK, _EMBEDDED]), *parts])


def explain_operator(shared: SharedPlan) -> str:
    """One operator: what each query adds above the join, then the plan."""
    return "\n".join(_operator(shared))


def _operator(shared: SharedPlan) -> Iterator[str]:
    for member in shared.members:
        yield f"  {member.name}: {', '.join(_own(shared, member))}"
    yield explain(_report(shared), costs=False)


def _report(shared: SharedPlan) -> Report:
    if shared.plan.query.answered is not None:
        return asof_report(shared.plan.query)
    return plan_report(shared.plan, assume(shared.plan.query), load_weights(), by_rule=True)


def _queries(groups: Groups, shared: SharedPlan) -> Iterator[str]:
    first = shared.members[0].name
    if first in groups.verdicts and len(shared.members) == 1:
        yield f"{first} runs alone: {groups.verdicts[first]}"
        yield "  (on Spark it stays in the group, so that a changed set of queries can resume)"
    else:
        yield f"one operator for {', '.join(member.name for member in shared.members)}"


def _own(shared: SharedPlan, member: Member) -> Iterator[str]:
    query = member.query
    if query.answered is None:
        yield "windows " + ", ".join(f"{stream.name} {stream.window}" for stream in query.streams)
    else:
        yield ", ".join(f"{each.name} {each.asof.how}" for each in query.streams if each.asof is not None)
    above = [str(part[1]) for part in query.filters if part not in shared.plan.query.filters]
    if above:
        yield "above the join " + " AND ".join(above)
    yield f"order {query.order}"
