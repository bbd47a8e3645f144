"""Sliding aggregates: results come and go, and every moment at which something changes gives a row per group.

    stage       results in order of time -> comings and goings -> rows
    changes     a block of comings and goings, by moment and group
    numbering   values of any type -> small numbers, exactly
    counts      COUNT and COUNT(DISTINCT): numbers and reference counts
    exact_sum   SUM and AVG without rounding on the way, so that nothing drifts
    extreme     MIN and MAX: a heap per group, cleaned from the top

The state is the results that count. All else is rebuilt from them, and again whenever more has gone than is left.
"""
