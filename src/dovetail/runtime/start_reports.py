"""From something that runs to its reports: what it is, what it is called, where they go."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from dovetail.errors import DataError, DovetailError
from dovetail.model.budget import Budget
from dovetail.model.stream import Stream
from dovetail.plan.calibrate import cache_folder
from dovetail.runtime.local import Run
from dovetail.runtime.reporting import Reporting


def reports_folder(folder: str | Path | None = None) -> Path:
    """Where reports go unless a folder is given: ``reports`` in the cache folder (``$DOVETAIL_CACHE``)."""
    return Path(folder) if folder is not None else cache_folder() / "reports"


def start_reports(running: Any, query: Any, name: str | None, folder: str | Path | None) -> Any:
    """Reports of a run, or of a Spark pipeline made from ``query``."""
    if name is not None and not isinstance(name, str):
        raise DataError(f"report: name={name!r}: it is a text, or None")
    if folder is not None and not isinstance(folder, str | PathLike):
        raise DataError(f"report: folder={folder!r}: it is the path of a folder, or None")
    where = reports_folder(folder)
    if isinstance(running, Run):
        own = running.streams
        about = _about(own, running.budget)
        running.reporting = Reporting(running, where, name or _name_of(query, own), about)
        return running.reporting
    if not hasattr(running, "recentProgress"):
        raise DataError(
            f"report: got a {type(running).__name__}; give a run (query.local()) or Spark's streaming query (.start())"
        )
    from dovetail.runtime.spark.reporting import SparkReporting

    streams = _streams_of(query)
    called = name or getattr(running, "name", None) or _name_of(query, streams)
    budget = query.model.budget if hasattr(query, "model") else None
    return SparkReporting(running, where, called, _about(streams, budget), _plans(query))


def _streams_of(query: Any) -> Sequence[Stream]:
    if query is None:
        return ()
    if not hasattr(query, "groups") and not hasattr(query, "model"):
        raise DataError(f"report: query is a {type(query).__name__}; give the query that the running one was made from")
    return tuple(query.groups.streams) if hasattr(query, "groups") else tuple(query.model.streams)


def _name_of(query: Any, streams: Sequence[Stream]) -> str:
    return getattr(query, "name", None) or ", ".join(stream.name for stream in streams[:8]) or "pipeline"


def _about(streams: Sequence[Stream], budget: Budget | None) -> dict[str, Any]:
    """What is known before anything runs; memory only if it is in bytes, as the page draws it."""
    known = {each.name: {"window": str(each.asof or each.window), "delay_us": each.delay_us} for each in streams}
    if budget is None:
        return {"streams": known}
    memory = budget.memory if isinstance(budget.memory, int) else None
    return {"streams": known, "budget": {"cpu": budget.cpu, "memory": memory, "policy": budget.policy}}


def _plans(query: Any) -> Any:
    """How a Spark pipeline's query is planned for the rates and keys that were measured, beside its measured cost."""
    if not hasattr(query, "plan_report") or query.model.answered is not None:
        return None
    if query.model.plan == "auto":
        query = query.replace(plan="multiway")  # as it runs, also where another plan would cost less

    def plans(statistics: Mapping[str, Any]) -> list[dict[str, Any]]:
        rates = {name: rate for name, rate in statistics.get("rates", {}).items() if rate}
        if not rates:
            return [query.plan_report()]
        measured = {"cost": statistics["busy"], "output_rate": statistics["output_rate"], "per_tuple": {}}
        try:
            return [query.plan_report(rates, statistics["keys"]) | {"measured": measured}]
        except DovetailError:  # keys that only an operator within a chain has
            return [query.plan_report() | {"measured": measured}]

    return plans
