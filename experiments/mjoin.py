"""Viglas, Naughton, Burger: Maximizing the Output Rate of Multi-Way Join Queries over Streaming Information Sources.

The real operators, one or several in a tree, are played in order of arrival; what they do is counted, and a server on
a simulated clock takes as long for it as the paper's prices of operations say. CPU times are measured beside that.
"""

from experiments.mjoin_overflow import figure_15
from experiments.mjoin_plans import figure_17
from experiments.mjoin_rates import figure_11, figure_12, figure_13, table_1
from experiments.outcome import Figure

INTRO = """
# MJoin: many streams, one operator or several

S. D. Viglas, J. F. Naughton, J. Burger: *Maximizing the Output Rate of Multi-Way Join Queries over Streaming
Information Sources*. One operator is `plan="multiway"`; the trees of symmetric hash joins (XJoin style) are
`plan=(("S1", "S2"), "S3")`. The streams are Wisconsin relations (`dovetail.testing.wisconsin`) with made-up arrival
times. Every plan is played by the real operators in order of arrival; counted are tuples hashed, tuples moved into
windows, looks into windows and tuples met there. A server on a simulated clock takes, for each batch, as long as the
paper's prices of operations say (hash 175 ns, move 427 ns, compare 49 ns, its table 3). The same counts at
this machine's prices (`dovetail calibrate`) and our own CPU times stand beside as ratios: CPU times include what trees
cost us per batch, so they favour one operator more than the counts do. Figure 15 is the workload of
`python -m benchmarks spill`, with a memory budget. Written by `make papers`.
"""

FIGURES: dict[str, Figure] = {
    "mjoin-11": figure_11,
    "mjoin-12": figure_12,
    "mjoin-table1": table_1,
    "mjoin-13": figure_13,
    "mjoin-15": figure_15,
    "mjoin-17": figure_17,
}
