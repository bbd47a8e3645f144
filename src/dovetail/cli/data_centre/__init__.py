"""The example behind ``dovetail demo``: racks that are hot and wet within one minute.

sensors     made-up readings of thousands of racks, and the query over them
pipeline    Spark started, the query running, its batches and alarms handed over
tally       what happened so far, for the progress line and the summary
screen      a live line in a terminal, plain lines elsewhere
"""
