"""The plans of whatever runs: of one engine, of a tree of them, or of some side by side."""

from typing import Any

from dovetail.runtime.operators import Operators
from dovetail.runtime.replanning import measured_report
from dovetail.runtime.tree import EngineTree


def plans_of(engine: Any) -> list[dict[str, Any]]:
    """The plan of every operator with what was measured; ``gives`` names its results as a stream of another."""
    if isinstance(engine, EngineTree):
        return [{"gives": gives, **measured_report(each)} for gives, each in engine.operators]
    if isinstance(engine, Operators):
        found = engine.engines.items()
        return [
            {"queries": [own.name for own in each.subscriptions.places], **measured_report(each)} for _, each in found
        ]
    return [measured_report(engine)]
