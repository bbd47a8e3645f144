"""Which papers there are, and the figures of each by name."""

from importlib import import_module
from typing import Any

from experiments.outcome import Figure

PAPERS = ("kang", "order", "mjoin", "grub", "share")


def module_of(paper: str) -> Any:
    """The file of a paper: ``FIGURES`` by name, and ``INTRO``, which opens its page."""
    return import_module(f"experiments.{paper}")


def figures_of(paper: str, spark: bool = False) -> dict[str, Figure]:
    """By name; with ``spark`` those that run on Spark."""
    if spark:
        on_spark: dict[str, Figure] = import_module("experiments.spark.figures").FIGURES
        return {name: figure for name, figure in on_spark.items() if name.partition("-")[0] == paper}
    figures: dict[str, Figure] = module_of(paper).FIGURES
    return figures


def figure_named(name: str, spark: bool = False) -> Figure | None:
    """One figure, such as order-8."""
    paper = name.partition("-")[0]
    return figures_of(paper, spark).get(name) if paper in PAPERS else None
