"""The loops of the greedy solvers: a setting of harvest fractions that grows or shrinks slice by slice.

``counts[i, j]`` is how many of its best slices direction i looks through in step j; ``costs`` and ``yields`` are those
of 0, 1, 2, ... slices together. A direction of which nothing is looked through begins with one slice of each window.
"""

import numpy as np

from dovetail.kernel import kernel, part

_MODEL = "float64[::1], float64[:,::1], float64[:,:,::1], float64[:,:,::1]"
OUTPUT, OUTPUT_PER_COST, DELTA = 0, 1, 2  # the three metrics of the paper, by number
_NOTHING = 1e-300  # nothing is divided by zero
_SLACK = 1 + 1e-9  # what rounding may add to a budget that is used up


@kernel(f"UniTuple(float64, 2)({_MODEL}, int64[:,::1], int64, int64, int64)")
def value(rates, fanouts, costs, yields, counts, i, j, by):
    """Output and cost per second of one direction, with ``by`` slices more in step j (see ``take``)."""
    reached, cost = rates[i], 0.0
    for at in range(counts.shape[1]):
        count = counts[i, at]
        if by:
            count = count + by if at == j else max(by, 0) if j < 0 else count
        cost += reached * costs[i, at, count]
        reached *= fanouts[i, at] * yields[i, at, count]
    return reached, cost


@kernel(f"UniTuple(float64, 2)({_MODEL}, int64[:,::1])")
def total(rates, fanouts, costs, yields, counts):
    """Output and cost per second of all directions."""
    output = cost = 0.0
    for i in range(len(rates)):
        own_output, own_cost = value(rates, fanouts, costs, yields, counts, i, 0, 0)
        output += own_output
        cost += own_cost
    return output, cost


@part(inline="always")
def score(output, cost, gain, spent, metric):
    """How good a step is that changes output and cost by so much."""
    if metric == DELTA:
        return gain / max(abs(spent), _NOTHING)
    if metric == OUTPUT:
        return output + gain
    return (output + gain) / max(cost + spent, _NOTHING)


@kernel(f"UniTuple(float64, 2)({_MODEL}, int64[:,::1], int64, int64, int64)")
def change(rates, fanouts, costs, yields, counts, i, j, by):
    """What a step does to output and cost."""
    output, cost = value(rates, fanouts, costs, yields, counts, i, 0, 0)
    after_output, after_cost = value(rates, fanouts, costs, yields, counts, i, j, by)
    return after_output - output, after_cost - cost


@part(inline="always")
def change_count(counts, i, j, by):
    """Make the step: in window j, or (j = -1) one slice of every window, or none of any."""
    if j >= 0:
        counts[i, j] += by
    else:
        counts[i, :] = 1 if by > 0 else 0


@kernel(f"float64({_MODEL}, int64[:,::1], int64[:,::1], boolean[:,::1], float64, int64)")
def add_slices(rates, fanouts, costs, yields, slices, counts, frozen, budget, metric):
    """Add the best slice that fits while there is one; column 0 of ``frozen`` is the direction's beginning."""
    m, k = counts.shape
    allowed = budget * _SLACK
    gains, spents = np.zeros((m, k + 1)), np.zeros((m, k + 1))
    stale = np.ones(m, np.bool_)
    output, cost = total(rates, fanouts, costs, yields, counts)
    while True:
        best, at, which = 0.0, -1, -1
        for i in range(m):
            off = counts[i, 0] == 0
            for j in range(-1, k):
                possible = off if j < 0 else not off and counts[i, j] < slices[i, j]
                if not possible or frozen[i, j + 1]:
                    continue
                if stale[i]:
                    gains[i, j + 1], spents[i, j + 1] = change(rates, fanouts, costs, yields, counts, i, j, 1)
                gain, spent = gains[i, j + 1], spents[i, j + 1]
                if cost + spent > allowed:
                    if j >= 0:
                        frozen[i, j + 1] = True
                    continue
                found = score(output, cost, gain, spent, metric)
                if gain > 0 and found > best:
                    best, at, which = found, i, j
            stale[i] = False
        if at < 0:
            return output
        output += gains[at, which + 1]
        cost += spents[at, which + 1]
        change_count(counts, at, which, 1)
        stale[at] = True


@kernel(f"void({_MODEL}, int64[:,::1], float64, int64, int64, int64)")
def remove_slices(rates, fanouts, costs, yields, counts, budget, metric, kept, kept_step):
    """Take away the slice that is missed least until the budget is met; a direction's last slices go together.

    Step ``kept_step`` of direction ``kept`` keeps its slices (-1: no direction does).
    """
    m, k = counts.shape
    gains, spents = np.zeros((m, k + 1)), np.zeros((m, k + 1))
    stale = np.ones(m, np.bool_)
    output, cost = total(rates, fanouts, costs, yields, counts)
    while cost > budget * _SLACK:
        best, at, which = -np.inf, -1, -1
        for i in range(m):
            for j in range(-1, k):
                if counts[i, 0] == 0 or (j >= 0 and counts[i, j] < 2) or (j < 0 and counts[i].max() > 1):
                    continue
                if i == kept and (j < 0 or j == kept_step):
                    continue
                if stale[i]:
                    gains[i, j + 1], spents[i, j + 1] = change(rates, fanouts, costs, yields, counts, i, j, -1)
                found = score(output, cost, gains[i, j + 1], spents[i, j + 1], metric)
                if found > best:
                    best, at, which = found, i, j
            stale[i] = False
        if at < 0:
            return
        output += gains[at, which + 1]
        cost += spents[at, which + 1]
        change_count(counts, at, which, -1)
        stale[at] = True


@kernel(f"void({_MODEL}, int64[:,::1], int64[:,::1], float64, int64)")
def concentrate(rates, fanouts, costs, yields, slices, counts, budget, metric):
    """Give one direction after the other all it can use, the rest to the others, if that beats the setting so far."""
    m, k = counts.shape
    nothing = np.zeros((m, k + 1), np.bool_)
    output = add_slices(rates, fanouts, costs, yields, slices, counts, nothing.copy(), budget, metric)
    for i in range(m):
        trial, frozen = np.zeros_like(counts), np.ones((m, k + 1), np.bool_)
        frozen[i, :] = False
        add_slices(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric)
        found = add_slices(rates, fanouts, costs, yields, slices, trial, nothing.copy(), budget, metric)
        if found > output * _SLACK:
            counts[:, :] = trial
            output = found


@kernel(f"float64({_MODEL}, int64[:,::1], int64[:,::1], boolean[:,::1], float64, int64)")
def _if_it_fits(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric):
    """The output once everything that fits has been added; nothing if the setting does not fit itself."""
    if total(rates, fanouts, costs, yields, trial)[1] > budget * _SLACK:
        return 0.0
    return add_slices(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric)


@kernel(
    f"float64({_MODEL}, int64[:,::1], int64[:,::1], boolean[:,::1], float64, int64, int64, int64)",
)
def exchange(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric, i, o):
    """Direction o gives way to one more slice of i's first window; returns the output."""
    change_count(trial, o, -1, -1)
    change_count(trial, i, 0 if trial[i, 0] else -1, 1)
    remove_slices(rates, fanouts, costs, yields, trial, budget, metric, i, 0)
    return _if_it_fits(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric)


@kernel(
    f"float64({_MODEL}, int64[:,::1], int64[:,::1], boolean[:,::1], float64, int64, int64, int64, int64)",
)
def shift(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric, i, j, by):
    """One slice (j = -1: one direction) more or less, and whatever then is best; returns the output."""
    change_count(trial, i, j, by)
    remove_slices(rates, fanouts, costs, yields, trial, budget, metric, i if by > 0 else -1, max(j, 0))
    if by < 0:
        without = frozen.copy()
        without[i, j + 1] = True
        add_slices(rates, fanouts, costs, yields, slices, trial, without, budget, metric)
    return _if_it_fits(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric)


@kernel(f"float64({_MODEL}, int64[:,::1], int64[:,::1], int64[:,::1], float64, int64, float64)")
def try_shifts(rates, fanouts, costs, yields, slices, counts, best, budget, metric, output):
    """Every shift; ``best`` becomes the setting that gives most, if it gives more than ``output``."""
    m, k = counts.shape
    for i in range(m):
        on = counts[i, 0] > 0
        for j in range(-1, k):
            for by in (-1, 1):
                less = by < 0 and on and (j < 0 or counts[i, j] > 1)
                more = by > 0 and (not on if j < 0 else on and counts[i, j] < slices[i, j])
                if less or more:
                    trial, frozen = counts.copy(), np.zeros((m, k + 1), np.bool_)
                    found = shift(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric, i, j, by)
                    if found > output * _SLACK:
                        best[:, :], output = trial, found
    return output


@kernel(f"float64({_MODEL}, int64[:,::1], int64[:,::1], int64[:,::1], float64, int64, float64)")
def try_exchanges(rates, fanouts, costs, yields, slices, counts, best, budget, metric, output):
    """Every exchange; the same."""
    m, k = counts.shape
    for i in range(m):
        for o in range(m):
            if o != i and counts[o, 0] > 0 and counts[i, 0] < slices[i, 0]:
                trial, frozen = counts.copy(), np.zeros((m, k + 1), np.bool_)
                found = exchange(rates, fanouts, costs, yields, slices, trial, frozen, budget, metric, i, o)
                if found > output * _SLACK:
                    best[:, :], output = trial, found
    return output


@kernel(f"void({_MODEL}, int64[:,::1], int64[:,::1], float64, int64, int64)")
def polish(rates, fanouts, costs, yields, slices, counts, budget, metric, rounds):
    """Shift a slice or a direction, or exchange two directions, whichever gains most, while any of it gains."""
    frozen = np.zeros((counts.shape[0], counts.shape[1] + 1), np.bool_)
    output = add_slices(rates, fanouts, costs, yields, slices, counts, frozen, budget, metric)
    for _ in range(rounds):
        best = counts.copy()
        found = try_shifts(rates, fanouts, costs, yields, slices, counts, best, budget, metric, output)
        found = try_exchanges(rates, fanouts, costs, yields, slices, counts, best, budget, metric, found)
        if found <= output * _SLACK:
            return
        counts[:, :] = best
        output = found
