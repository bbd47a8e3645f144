"""Gedik, Wu, Yu, Liu: GrubJoin, an adaptive, multi-way, windowed stream join with time correlation-aware load shedding.

Figures 4 and 7 to 10 are the solvers that choose which slices of the windows are looked through; the others are the
real join under a budget, on a simulated clock.
"""

from experiments.grub_flights import flights
from experiments.grub_rates import figure_2, figure_11, figure_12
from experiments.grub_settings import figure_16, table_2
from experiments.grub_slices import figure_14
from experiments.grub_solvers import figure_4, figure_7
from experiments.grub_streams import figure_13, figure_15
from experiments.grub_times import figure_8, figure_9, figure_10
from experiments.grub_uses import figure_17
from experiments.grub_video import video
from experiments.outcome import Figure

INTRO = """
# Grub: the most profitable part of the work

B. Gedik, K.-L. Wu, P. S. Yu, L. Liu: *GrubJoin: An Adaptive, Multi-Way, Windowed Stream Join with Time
Correlation-Aware CPU Load Shedding*. Harvesting is `budget=dovetail.budget(cpu=..., policy="harvest")`. Figures 4 and 7
to 10 are the solvers (`dovetail.control.solve_harvest`) on the paper's model of cost and output
(`dovetail.control.harvest_model`): a slice is the paper's basic window. Times are CPU times of this machine. The other
figures are the real join under a budget, with scanned windows, on a simulated clock: its CPU time is what it has itself
compared, and the capacity is what the full join of three streams at 100 tuples/s compares. RandomDrop keeps of each
stream what the static optimum for the same cost model keeps. Lines are ours, crosses are numbers that the paper states.
Written by `make papers`.
"""

FIGURES: dict[str, Figure] = {
    "grub-2": figure_2,
    "grub-4": figure_4,
    "grub-7": figure_7,
    "grub-8": figure_8,
    "grub-9": figure_9,
    "grub-10": figure_10,
    "grub-11": figure_11,
    "grub-12": figure_12,
    "grub-13": figure_13,
    "grub-14": figure_14,
    "grub-15": figure_15,
    "grub-table2": table_2,
    "grub-16": figure_16,
    "grub-17": figure_17,
    "grub-video": video,
    "grub-flights": flights,
}
