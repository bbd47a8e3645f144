"""Events of an auction house, after the Nexmark benchmark: people register, put things up for auction, and bid.

Of 50 events in a row 1 is a person, 3 are auctions and 46 are bids. Half the bids go to one hot auction in a hundred;
the other half to auctions of late. Sellers and bidders are hot in the same way. Times are evenly spaced.

    >>> events = nexmark_events(5_000, per_second=100)
    >>> {name: table.num_rows for name, table in events.items()}
    {'person': 100, 'auction': 300, 'bid': 4600, 'highest': 5}
    >>> events["auction"].schema.names
    ['ts', 'id', 'seller', 'category', 'initial', 'expires', 'slot']
"""

from typing import Any

import numpy as np
import pyarrow as pa

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
SLOT_US = 10 * SECOND  # the tumbling windows of queries 7 and 8
TURN, PEOPLE, AUCTIONS = 50, 1, 3  # of every 50 events, the first is a person and the next three are auctions
LENGTH_S = (2, 30)  # how long an auction is open
RECENT = 200  # a bid that is not for a hot auction is for one of so many last ones
STATES = np.array(["AZ", "CA", "ID", "OR", "WA", "WY"])
Numbers = np.ndarray[Any, np.dtype[np.int64]]


def nexmark_events(events: int, per_second: int = 10_000, seed: int = 7) -> dict[str, pa.Table]:
    """The three streams and the highest bids; the same numbers give the same events."""
    random = np.random.default_rng(seed)
    number = np.arange(events)
    place, time = number % TURN, START + number * SECOND // per_second
    person, auction = place < PEOPLE, (place >= PEOPLE) & (place < PEOPLE + AUCTIONS)
    bid = ~(person | auction)
    people, auctions = (
        np.cumsum(person, dtype=np.int64),
        np.cumsum(auction, dtype=np.int64),
    )  # how many there are at each event
    bids = _bids(random, time[bid], auctions[bid], people[bid])
    return {
        "person": _people(random, time[person], people[person]),
        "auction": _auctions(random, time[auction], auctions[auction], people[auction]),
        "bid": bids,
        "highest": _highest(bids),
    }


def _people(random: np.random.Generator, time: Numbers, number: Numbers) -> pa.Table:
    state = STATES[random.integers(0, len(STATES), len(number))]
    return _table(time, {"id": number - 1, "name": [f"person {n}" for n in number - 1], "state": state})


def _auctions(random: np.random.Generator, time: Numbers, number: Numbers, people: Numbers) -> pa.Table:
    count = len(number)
    columns = {
        "id": number - 1,
        "seller": _one_of(random, people, hot=0.75, recent=100),
        "category": random.integers(10, 15, count),
        "initial": random.integers(1, 100, count),
        "expires": _times(time + random.integers(LENGTH_S[0] * SECOND, LENGTH_S[1] * SECOND, count)),
    }
    return _table(time, columns)


def _bids(random: np.random.Generator, time: Numbers, auctions: Numbers, people: Numbers) -> pa.Table:
    columns = {
        "auction": _one_of(random, auctions, hot=0.5, recent=RECENT),
        "bidder": _one_of(random, people, hot=0.75, recent=1000),
        "price": np.exp(random.normal(5, 1.2, len(time))).astype(np.int64) + 1,
    }
    return _table(time, columns)


def _highest(bids: pa.Table) -> pa.Table:
    """The largest price of each tumbling window, at the end of that window."""
    found = bids.group_by("slot").aggregate([("price", "max")]).sort_by("slot")
    slot = found["slot"].to_numpy()
    return _table(START + (slot + 1) * SLOT_US, {"price": found["price_max"]}).set_column(2, "slot", pa.array(slot))


def _one_of(random: np.random.Generator, known: Numbers, hot: float, recent: int) -> Numbers:
    """A number below ``known``: the hot one of each hundred, or any of the last ones."""
    newest = known - 1
    back = (random.random(len(known)) * np.minimum(known, recent)).astype(np.int64)
    chosen: Numbers = np.where(random.random(len(known)) < hot, newest // 100 * 100, newest - back)
    return chosen


def _table(time: Numbers, columns: dict[str, Any]) -> pa.Table:
    """``slot`` is the tumbling window that a row falls into."""
    return pa.table({"ts": _times(time), **columns, "slot": (time - START) // SLOT_US})


def _times(microseconds: Numbers) -> pa.Array:
    return pa.array(microseconds).cast(pa.timestamp("us"))
