"""For tests of queries and of Dovetail itself.

oracle      what a query must give, by nested loops over the whole history, and what of it must be out by now
script      what happens to a query, in order: pushes, promises, ticks, the end
replay      telling a script to a run
compare     the same rows however they are ordered, with a readable difference
scenario    a test as a Markdown table: arrivals, and beside each the rows it must cause
arrivals    when tuples arrive: regular, Poisson, in bursts, at changing rates
streams     made-up streams: untidy ones, correlated ones, Wisconsin relations
overload    a join with too much to do, on a simulated machine
"""

from dovetail.testing.arrivals import constant, fluctuating, pareto_bursts, poisson
from dovetail.testing.compare import assert_same_rows, assert_subset, difference, ordered, same_rows
from dovetail.testing.markdown import load_scenario, read_scenario
from dovetail.testing.oracle import Outcome, certain, oracle
from dovetail.testing.overload import Overloaded, correlated_streams, overload
from dovetail.testing.replay import play, play_event
from dovetail.testing.scenario import Scenario, Step
from dovetail.testing.script import Advance, Close, Event, Push, Script, Tick
from dovetail.testing.streams import Feed, Trace, correlated_values, interleave, random_stream, wisconsin

__all__ = [
    "Advance",
    "Close",
    "Event",
    "Feed",
    "Outcome",
    "Overloaded",
    "Push",
    "Scenario",
    "Script",
    "Step",
    "Tick",
    "Trace",
    "assert_same_rows",
    "assert_subset",
    "certain",
    "constant",
    "correlated_streams",
    "correlated_values",
    "difference",
    "fluctuating",
    "interleave",
    "load_scenario",
    "oracle",
    "ordered",
    "overload",
    "pareto_bursts",
    "play",
    "play_event",
    "poisson",
    "random_stream",
    "read_scenario",
    "same_rows",
    "wisconsin",
]
