"""Hammad, Aref, Elmagarmid: Optimizing In-Order Execution of Continuous Queries over Streamed Sensor Data.

Figures 5 and 6 come from the formulas; 7 to 10 from the real join on a simulated clock with one
server: exponential arrivals, windows of a minute, 20 minutes of stream (4 with ``--quick``).
"""

import dovetail as dv
from experiments.order_model import (
    Workload,
    busy,
    gain,
    hold_response,
    largest_compare_s,
    overlap,
    sync_response,
)
from experiments.outcome import Cause, Curve, Figure, Mark, Outcome, Panel
from experiments.response import Order, Streams, held_share, mean_response, response_apart, steady_response

INTRO = """
# Order: waiting at the door or at the exit

M. A. Hammad, W. G. Aref, A. K. Elmagarmid: *Optimizing In-Order Execution of Continuous Queries over Streamed Sensor
Data*. Sync-Filter is `order="sync"`, Filter-Order is `order="hold"`, Adaptive is `order=dv.adaptive(alpha)`. Figures 5
and 6 are the formulas (`experiments.order_model`); 7 to 10 are the real join, tuple by tuple, on a simulated clock
with one server: comparing two tuples takes *c*, arrivals are exponential, 20 minutes of stream. A tuple's response time
ends when it has been joined and its output may leave. Lines are ours, crosses are numbers that the paper states.
Written by `make papers`.

One server joins the tuples of both streams, and each stream's take equally long; so it keeps up only while
*x = c w l1 l2* is below 1/2, not 1, and the formula's gain *x / (1 + x)* ends at 1/3, not 1/2.
"""

ALPHA = 0.3
_DEARER = 1.25  # the real c over its estimate, in the run that asks what an estimate too low would explain
_ORDERS: dict[str, Order] = {"Sync-Filter": "sync", "Filter-Order": "hold", "Adaptive": dv.adaptive(ALPHA)}
_COSTS = (1e-6, 1e-5, 1e-4, 3e-4, 5e-4, 6e-4, 7e-4, 8e-4, 1e-3)
_QUICK_COSTS = (1e-6, 1e-4, 3e-4, 5e-4, 7e-4, 1e-3)
_RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
_QUICK_RATES = (0.03, 0.3, 1.0)
_DAY_S = 86_400.0
_RESPONSE = "average response time, s"
_RELATIVE = "improvement over Sync-Filter"

Sweep = dict[str, list[float]]


def figure_5(quick: bool) -> Outcome:
    """From the formulas: window of a day, rates 1 and 10, c doubles from 0.01 us."""
    costs = [1e-8 * 2**step for step in range(7)]
    loads = [Workload(c, _DAY_S, slow=1, fast=10) for c in costs]
    sync, hold, gains = ([f(load) for load in loads] for f in (sync_response, hold_response, gain))
    edge = Workload(1 / (_DAY_S * 10), _DAY_S, 1, 10)
    full = Workload(largest_compare_s(_DAY_S, 1, 10), _DAY_S, 1, 10)
    us = [c * 1e6 for c in costs]
    return Outcome(
        "order-5",
        "Formulas while comparing gets dearer",
        "Sync-Filter's response grows with c, Filter-Order's does not, and the gain tends to one half.",
        paper={"gain as c w tends to 1 / (l1 l2)": 0.5},
        ours={"gain as c w tends to 1 / (l1 l2)": gain(edge), "gain where one server is full": gain(full)},
        checks={
            "Sync-Filter grows with c": sync == sorted(sync) and sync[-1] > sync[0],
            "Filter-Order is the same for every c": len(set(hold)) == 1,
            "the gain is x / (1 + x) of equations 3 and 5": all(
                abs(1 - h / s - g) < 1e-9 for s, h, g in zip(sync, hold, gains, strict=True)
            ),
            "it is one half at x = 1": abs(gain(edge) - 0.5) < 1e-9,
            "one server is full at x = 1/2, where it is 1/3": abs(busy(full) - 1) < 1e-9
            and abs(gain(full) - 1 / 3) < 1e-9,
        },
        panels=(
            Panel("c, us", _RESPONSE, (Curve("Sync-Filter", us, sync), Curve("Filter-Order", us, hold))),
            Panel(
                "c, us",
                _RELATIVE,
                (Curve("Filter-Order", us, gains),),
                (Mark("bound", edge.compare_s * 1e6, 0.5), Mark("one server", full.compare_s * 1e6, 1 / 3)),
            ),
        ),
        differences=(
            "The paper's bound of one half needs x = 1, where one server would have twice the work it can do; "
            "the gain that can be had is 1/3.",
        ),
    )


def figure_6(quick: bool) -> Outcome:
    """From the formulas: window of a day, c 0.1 ms, fast rate 1, slow rate 0.0001 to 0.1."""
    rates = [10 ** (step / 4 - 4) for step in range(13)]
    loads = [Workload(1e-4, _DAY_S, slow, fast=1) for slow in rates]
    sync, hold, gains = ([f(load) for load in loads] for f in (sync_response, hold_response, gain))
    return Outcome(
        "order-6",
        "Formulas while the slow stream gets quicker",
        "Filter-Order gains more, in seconds and in parts, as the slow stream gets quicker: 5 instead of 10 seconds "
        "at 0.1 tuples/s.",
        paper={"Sync-Filter at 0.1, s": 10, "Filter-Order at 0.1, s": 5},
        ours={
            "Sync-Filter at 0.1, s": sync[-1],
            "Filter-Order at 0.1, s": hold[-1],
            "gain at 0.1": gains[-1],
            "busy part of one server at 0.1": busy(loads[-1]),
        },
        checks={
            "both within 10 % of the paper's rounded seconds": abs(sync[-1] - 10) < 1 and abs(hold[-1] - 5) <= 0.5,
            "the gain grows with the slow rate": gains == sorted(gains),
        },
        panels=(
            Panel(
                "rate of the slow stream, tuples/s",
                _RESPONSE,
                (Curve("Sync-Filter", rates, sync), Curve("Filter-Order", rates, hold)),
                (Mark("10 s", 0.1, 10), Mark("5 s", 0.1, 5)),
                log_x=True,
                log_y=True,
            ),
            Panel("rate of the slow stream, tuples/s", _RELATIVE, (Curve("Filter-Order", rates, gains),), log_x=True),
        ),
        differences=(
            f"At the last point x is {overlap(loads[-1]):.2f}, so one server would have {busy(loads[-1]):.2f} s of "
            "work per second: the formulas describe more than it could do.",
        ),
    )


def figure_7(quick: bool) -> Outcome:
    """Average response while c grows: rates 1 and 10, window 60 s."""
    costs, sweep = _cost_sweep(quick)
    sync, hold, adaptive = (dict(zip(costs, sweep[name], strict=True)) for name in _ORDERS)
    keeps_up = largest_compare_s(60, 1, 10)
    held = {c: held_share(_by_cost(quick), dv.adaptive(ALPHA), c) for c in costs}
    ms = [c * 1000 for c in costs]
    return Outcome(
        "order-7",
        "Average response time while comparing gets dearer",
        "Sync-Filter is worst throughout, Filter-Order hardly changes with c, Adaptive is like Sync-Filter below "
        "c = 0.5 ms and like Filter-Order from there.",
        paper={"Adaptive switches at c, ms": 0.5},
        ours={
            "Adaptive switches at c, ms": 1000 * min(c for c in costs if held[c] > 0),
            "part of the time it holds output at 0.3, 0.5, 0.7 ms": " ".join(
                f"{held[c]:.2f}" for c in (3e-4, 5e-4, 7e-4)
            ),
            "Filter-Order at 0.001, 0.5, 0.7 ms, s": " ".join(f"{hold[c]:.2f}" for c in (1e-6, 5e-4, 7e-4)),
            "Sync-Filter at 0.001, 0.5, 0.7 ms, s": " ".join(f"{sync[c]:.2f}" for c in (1e-6, 5e-4, 7e-4)),
            "largest c that one server keeps up with, ms": 1000 * keeps_up,
            "Filter-Order beyond it (1 ms), s": hold[1e-3],
        },
        checks={
            "Sync-Filter is worst at every c": all(sync[c] >= max(hold[c], adaptive[c]) * 0.999 for c in costs),
            "Filter-Order changes by less than 15 % up to 0.5 ms": hold[5e-4] < 1.15 * hold[1e-6],
            "Adaptive is Sync-Filter up to 0.1 ms, within 3 % at 0.3 ms": all(
                abs(adaptive[c] / sync[c] - 1) < (0.03 if c > 1e-4 else 1e-6) for c in costs if c < 4e-4
            ),
            "Adaptive has nine tenths of Filter-Order's gain at 0.5 ms": sync[5e-4] - adaptive[5e-4]
            >= 0.9 * (sync[5e-4] - hold[5e-4]),
            "and at 0.7 ms": sync[7e-4] - adaptive[7e-4] >= 0.9 * (sync[7e-4] - hold[7e-4]),
            "beyond what one server can do, all three diverge": min(hold[1e-3], adaptive[1e-3]) > 5 * hold[1e-6],
        },
        panels=(Panel("c, ms", _RESPONSE, _curves(ms, sweep), (), log_y=True),),
        differences=(
            "With exponential arrivals a tuple waits for the slow stream for a second on average, twice as long as "
            "with the regular arrivals of the formulas; compare shapes and gains, not levels.",
            "Filter-Order is flat only while the server is far from full: above 0.5 ms tuples queue for it, whatever "
            "the order, and above 0.83 ms the queue grows without end.",
            "At c = 0.5 ms the product is exactly alpha, and the running estimates fall to either side of it. Adaptive "
            "holds output from the first time that they reach alpha, and goes back only where they are clearly below: "
            f"it has {(sync[5e-4] - adaptive[5e-4]) / (sync[5e-4] - hold[5e-4]):.2f} of Filter-Order's gain.",
        ),
    )


def figure_8(quick: bool) -> Outcome:
    """The same runs, relative to Sync-Filter."""
    costs, sweep = _cost_sweep(quick)
    gains, adaptive = (dict(zip(costs, _relative(sweep, name), strict=True)) for name in ("Filter-Order", "Adaptive"))
    model = {c: gain(Workload(c, 60, 1, 10)) for c in costs}
    to_half_ms = [c for c in costs if c <= 5e-4]
    regular = Streams(60, slow=1, fast=10, seconds=240, regular=True)
    sync, hold = (steady_response(regular, order, 5e-4, of="T") for order in ("sync", "hold"))
    load = Workload(5e-4, 60, 1, 10)
    ms = [c * 1000 for c in costs]
    return Outcome(
        "order-8",
        "Improvement over Sync-Filter while comparing gets dearer",
        "The gain of Filter-Order follows x / (1 + x) or exceeds it: 45 % at c = 0.5 ms, more than half where "
        "Sync-Filter falls behind.",
        paper={"formula at 0.5 ms": 0.25, "measured at 0.5 ms": 0.45, "measured at the last two c": "> 0.5"},
        ours={
            "formula at 0.5 ms": model[5e-4],
            "measured at 0.5 ms": gains[5e-4],
            "measured at 0.5 ms, the formula's own case": 1 - hold / sync,
            "measured at 0.5 ms, regular arrivals, both streams": 1
            - steady_response(regular, "hold", 5e-4) / steady_response(regular, "sync", 5e-4),
            "formula at 0.7 ms": model[7e-4],
            "measured at 0.7 ms": gains[7e-4],
            "measured at the last two c": f"{gains[costs[-2]]:.3f} {gains[costs[-1]]:.3f}",
            "largest measured": max(gains.values()),
            "Adaptive at 0.7 ms": adaptive[7e-4],
        },
        checks={
            "the gain grows with c up to 0.5 ms": [gains[c] for c in to_half_ms]
            == sorted(gains[c] for c in to_half_ms),
            "there it is not below the formula's (by 0.01)": all(gains[c] > model[c] - 0.01 for c in to_half_ms),
            "in their own case, equations 3 and 5 are right to a hundredth": abs(sync / sync_response(load) - 1) < 0.01
            and abs(hold / hold_response(load) - 1) < 0.01,
            "at 0.5 ms it is at least what alpha promises": gains[5e-4] >= ALPHA / (1 + ALPHA),
            "at 0.5 ms it is 45 % (to within 5 %)": abs(gains[5e-4] - 0.45) < 0.05,
            "it exceeds one half at 1 ms": gains[1e-3] > 0.5,
        },
        panels=(
            Panel(
                "c, ms",
                _RELATIVE,
                (
                    Curve("Filter-Order", ms, list(gains.values())),
                    Curve("Adaptive", ms, list(adaptive.values())),
                    Curve("formula", ms, list(model.values())),
                ),
                (Mark("45 %", 0.5, 0.45), Mark("> 50 %", 1.0, 0.5)),
            ),
        ),
        differences=(
            "The paper measures 45 % at 0.5 ms where its formula says 23 % (it rounds that up to 25 %) and lays it to "
            "its estimate of c. Our c is exact, and the gain is between the two. In the "
            "formula's own case (regular arrivals, windows full, tuples of the fast stream only) the run gives the "
            "formula's seconds; the slow stream's tuples gain more than those, and exponential arrivals add the rest. "
            "So the largest gain, near 0.6 ms, is a little above the formula's last value of 1/3.",
            "More than half does not come out on one server: both orders do the same comparisons, so from about 0.7 ms "
            "on both queue for the server, above 0.83 ms both fall behind for ever, and the gain goes to zero instead.",
        ),
        causes=(_apart(_by_cost(quick)),),
    )


def _apart(streams: Streams) -> Cause:
    """Filter-Order with a server for each stream, Sync-Filter in turn; and with a c above the estimate."""
    gains = {
        c: 1 - response_apart(streams, "hold", c) / mean_response(streams, "sync", c)
        for c in (5e-4, _DEARER * 5e-4, 8e-4, 1e-3)
    }
    half, dearer, *last = gains.values()
    return Cause(
        "One server joins both streams, whatever the order. If Filter-Order has a server for each, as its formula (no "
        "tuple waits for another's comparisons) has it, while Sync-Filter still takes one tuple after the other, only "
        f"Sync-Filter falls behind: the gain at the last two c is {last[0]:.2f} and {last[1]:.2f}, as the paper says. "
        f"At 0.5 ms it is {half:.2f}; if comparing really takes {_DEARER - 1:.0%} longer than its estimate, to which "
        f"the paper lays the difference, it is {dearer:.2f}.",
        min(last) > 0.5 and abs(dearer - 0.45) < 0.05,
        ("at 0.5 ms it is 45 % (to within 5 %)", "it exceeds one half at 1 ms"),
    )


def figure_9(quick: bool) -> Outcome:
    """Average response while the slow stream gets quicker: fast rate 10, c 0.5 ms."""
    rates, sweep = _rate_sweep(quick)
    sync, hold, adaptive = (sweep[name] for name in _ORDERS)
    held = [held_share(_by_rate(quick, rate), dv.adaptive(ALPHA), 5e-4) for rate in rates]
    return Outcome(
        "order-9",
        "Average response time while the slow stream gets quicker",
        "All orders wait long for a slow stream (more than a minute), Sync-Filter longest; Adaptive leaves Sync-Filter "
        "only at one tuple per second.",
        paper={"response at the slowest rate, s": "> 60", "Adaptive switches at rate": 1},
        ours={
            "slowest rate, tuples/s": rates[0],
            "response at the slowest rate, s": hold[0],
            "Adaptive switches at rate": next(rate for rate, share in zip(rates, held, strict=True) if share > 0),
            "part of the time it holds output there": held[-1],
        },
        checks={
            "Sync-Filter is worst at every rate": all(
                s >= max(h, a) * 0.999 for s, h, a in zip(sync, hold, adaptive, strict=True)
            ),
            "the slower the stream, the longer the response": all(
                each == sorted(each, reverse=True) for each in (sync, hold)
            ),
            "a stream slower than 0.015 makes all wait more than a minute": all(
                min(s, h) > 60 for rate, s, h in zip(rates, sync, hold, strict=True) if rate < 0.015
            ),
            "Adaptive is Sync-Filter below one tuple per second": all(
                abs(a / s - 1) < 1e-6 for rate, a, s in zip(rates, adaptive, sync, strict=True) if rate < 0.5
            ),
            "and not at one": held[-1] > 0,
        },
        panels=(
            Panel("rate of the slow stream, tuples/s", _RESPONSE, _curves(rates, sweep), (), log_x=True, log_y=True),
        ),
        differences=(
            "At one tuple per second x is exactly alpha, so Adaptive comes to Filter-Order after some time only.",
        ),
    )


def figure_10(quick: bool) -> Outcome:
    """The same runs, relative to Sync-Filter."""
    rates, sweep = _rate_sweep(quick)
    gains, adaptive = (_relative(sweep, name) for name in ("Filter-Order", "Adaptive"))
    model = [gain(Workload(5e-4, 60, rate, 10)) for rate in rates]
    return Outcome(
        "order-10",
        "Improvement over Sync-Filter while the slow stream gets quicker",
        "The gain of Filter-Order is small for a slow stream and grows with its rate; Adaptive gains only at one tuple "
        "per second.",
        paper={},
        ours={
            "Filter-Order at the slowest rate": gains[0],
            "Filter-Order at 1 tuple/s": gains[-1],
            "formula at 1 tuple/s": model[-1],
            "Adaptive at 1 tuple/s": adaptive[-1],
        },
        checks={
            "the gain grows with the rate": gains == sorted(gains),
            "it is not below the formula's (by 0.01)": all(g > m - 0.01 for g, m in zip(gains, model, strict=True)),
            "Adaptive gains at 1 tuple/s, and nothing before": adaptive[-1] > 0.02 and max(adaptive[:-1]) < 1e-6,
        },
        panels=(
            Panel(
                "rate of the slow stream, tuples/s",
                _RELATIVE,
                (
                    Curve("Filter-Order", rates, gains),
                    Curve("Adaptive", rates, adaptive),
                    Curve("formula", rates, model),
                ),
                (),
                log_x=True,
            ),
        ),
        differences=(
            f"At one tuple per second the gain differs from the formula's by {gains[-1] - model[-1]:+.3f}: "
            "order-8 shows what the formula leaves out.",
        ),
    )


def _seconds(quick: bool) -> float:
    return 240.0 if quick else 1200.0


def _by_cost(quick: bool) -> Streams:
    return Streams(60, slow=1, fast=10, seconds=_seconds(quick))


def _by_rate(quick: bool, rate: float) -> Streams:
    return Streams(60, slow=rate, fast=10, seconds=_seconds(quick))


def _cost_sweep(quick: bool) -> tuple[list[float], Sweep]:
    costs = list(_QUICK_COSTS if quick else _COSTS)
    streams = _by_cost(quick)
    return costs, {name: [mean_response(streams, order, c) for c in costs] for name, order in _ORDERS.items()}


def _rate_sweep(quick: bool) -> tuple[list[float], Sweep]:
    rates = list(_QUICK_RATES if quick else _RATES)
    return rates, {
        name: [mean_response(_by_rate(quick, rate), order, 5e-4) for rate in rates] for name, order in _ORDERS.items()
    }


def _relative(sweep: Sweep, name: str) -> list[float]:
    return [1 - ours / sync for ours, sync in zip(sweep[name], sweep["Sync-Filter"], strict=True)]


def _curves(x: list[float], sweep: Sweep) -> tuple[Curve, ...]:
    return tuple(Curve(name, x, y) for name, y in sweep.items())


FIGURES: dict[str, Figure] = {
    "order-5": figure_5,
    "order-6": figure_6,
    "order-7": figure_7,
    "order-8": figure_8,
    "order-9": figure_9,
    "order-10": figure_10,
}
