"""Pictures: our curves as lines, the paper's stated numbers as marks, on the paper's axes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.outcome import Panel

_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "dovetail", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}


def draw(panels: Sequence[Panel], path: Path) -> None:
    """One picture with the panels side by side; the same numbers give the same file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(5.2 * len(panels), 3.4), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            _axes(axes, panel)
        figure.savefig(path, metadata={"Date": None})


def _axes(axes: Any, panel: Panel) -> None:
    axes.set(xlabel=panel.x, ylabel=panel.y)
    axes.margins(0.07)
    if panel.bars:
        axes.bar([curve.label for curve in panel.curves], [curve.y[-1] for curve in panel.curves], width=0.5)
        axes.tick_params(axis="x", labelrotation=20)
    else:
        _lines(axes, panel)
    for mark in panel.marks:
        axes.plot(mark.x, mark.y, "kx", markersize=8)
        axes.annotate(mark.label, (mark.x, mark.y), textcoords="offset points", xytext=(6, 5))


def _lines(axes: Any, panel: Panel) -> None:
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    for curve in panel.curves:
        axes.plot(curve.x, curve.y, marker=".", label=curve.label)
    axes.legend()
