"""Gedik, Wu, Yu, Liu: GrubJoin, an adaptive, multi-way, windowed stream join with time correlation-aware load shedding.

Figures 4 and 7 to 10 are the solvers that choose which slices of the windows are looked through.
"""

from experiments.grub_solvers import figure_4, figure_7
from experiments.grub_times import figure_8, figure_9, figure_10
from experiments.outcome import Figure

INTRO = """
# Grub: the most profitable part of the work

B. Gedik, K.-L. Wu, P. S. Yu, L. Liu: *GrubJoin: An Adaptive, Multi-Way, Windowed Stream Join with Time
Correlation-Aware CPU Load Shedding*. Harvesting is `budget=dovetail.budget(cpu=..., policy="harvest")`. Figures 4 and 7
to 10 are the solvers (`dovetail.control.solve_harvest`) on the paper's model of cost and output
(`dovetail.control.harvest_model`): a slice is the paper's basic window. Times are CPU times of this machine. Lines are
ours, crosses are numbers that the paper states. Written by `make papers`.
"""

FIGURES: dict[str, Figure] = {
    "grub-4": figure_4,
    "grub-7": figure_7,
    "grub-8": figure_8,
    "grub-9": figure_9,
    "grub-10": figure_10,
}
