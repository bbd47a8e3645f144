"""Kang, Naughton, Viglas: Evaluating Window Joins over Unbounded Streams.

Figures 2 and 3 come from the formulas; 4 to 6 time our own windows; 7 is a server that falls behind; 8 to 11 share
out CPU and memory by the formulas, and then run the real join on what is left of the streams.
"""

from experiments.kang_costs import figure_2, figure_3, figure_4, figure_5, figure_6
from experiments.kang_overload import figure_7
from experiments.kang_shares import figure_8, figure_9, figure_10, figure_11
from experiments.outcome import Figure

INTRO = """
# Kang: hash or scan, and sharing out what is short

J. Kang, J. F. Naughton, S. D. Viglas: *Evaluating Window Joins over Unbounded Streams*. The formulas are
`experiments.kang_model` and `dovetail.plan.kang_shares`. Figures 2 and 3 are formulas with the paper's constants.
Figures 4 to 6 are CPU times of our own hashed and scanned windows: compare ratios, not seconds. Figure 7 is the real
join's results on a server that takes as long as the model says, with the paper's constants, and again as long as our
windows take. Figures 8 to 11 are the real join, fed what each way of sharing leaves: too little CPU is tuples dropped
before the join, too little memory is shorter windows. Lines and bars are ours, crosses are numbers that the paper
states or that its formulas give. Written by `make papers`.
"""

FIGURES: dict[str, Figure] = {
    "kang-2": figure_2,
    "kang-3": figure_3,
    "kang-4": figure_4,
    "kang-5": figure_5,
    "kang-6": figure_6,
    "kang-7": figure_7,
    "kang-8": figure_8,
    "kang-9": figure_9,
    "kang-10": figure_10,
    "kang-11": figure_11,
}
