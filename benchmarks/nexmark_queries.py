"""The joins among the Nexmark queries, each as Dovetail runs it and as DuckDB does over the whole tables.

    q3    who sells a certain kind of thing in certain states                          auction and person
    q4    the bids made while their auction was open; prices by category (and q6)      auction and bid
    q7    the highest bids of each ten seconds                                         bid and highest
    q8    who registered and sold something within the same ten seconds                person and auction
    q9    the winning bid of each auction: the highest, then the earliest              of the bids of q4
    q20   bids with their auction, of one category                                     bid and auction
    q23   bids with their auction and its seller                                       three streams

``highest`` is the largest price of each ten seconds, known at their end: a tumbling aggregate of one stream, which is
not a join and comes from elsewhere. Where the original joins without any bound, a window of ``WINDOW`` stands on both
sides here, in DuckDB's text as well. What follows a join in the original (an average, a first row) is not a window
join: it is done afterwards, the same way for both.
"""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import dovetail as dv

WINDOW = "60 seconds"
OPEN = "30 seconds"  # no auction is open for longer
BOTH_WAYS = "abs(epoch_us({a}.ts) - epoch_us({b}.ts)) <= 60000000"


@dataclass(frozen=True)
class NexmarkQuery:
    """``windows`` names the streams in order, each by its table, with its window; ``sql`` is DuckDB's."""

    windows: dict[str, tuple[str, str]]
    on: str
    select: str
    sql: str

    def query(self, events: dict[str, pa.Table], pushed: bool = True) -> dv.Query:
        """Over rows that are pushed, or over the events themselves."""
        streams = [
            dv.stream(name, **_given(events[table], pushed), time="ts", window=window)
            for name, (table, window) in self.windows.items()
        ]
        return dv.join(*streams, on=self.on, select=self.select)


def _given(table: pa.Table, pushed: bool) -> dict[str, Any]:
    return {"schema": table.schema} if pushed else {"data": table}


_BIDS_OF_OPEN_AUCTIONS = NexmarkQuery(
    {"A": ("auction", OPEN), "B": ("bid", "0 seconds")},
    "A.id = B.auction AND B.ts <= A.expires",
    "A.id, A.category, B.price, B.bidder, B.ts AS bid_ts",
    "SELECT A.id, A.category, B.price, B.bidder, B.ts AS bid_ts FROM auction A JOIN bid B ON A.id = B.auction "
    "WHERE B.ts BETWEEN A.ts AND A.expires",
)

QUERIES = {
    "q3": NexmarkQuery(
        {"A": ("auction", WINDOW), "P": ("person", WINDOW)},
        "A.seller = P.id AND A.category = 10 AND P.state IN ('OR', 'ID', 'CA')",
        "P.name, P.state, A.id",
        "SELECT P.name, P.state, A.id FROM auction A JOIN person P ON A.seller = P.id "
        f"WHERE A.category = 10 AND P.state IN ('OR', 'ID', 'CA') AND {BOTH_WAYS.format(a='A', b='P')}",
    ),
    "q4": _BIDS_OF_OPEN_AUCTIONS,
    "q7": NexmarkQuery(
        {"B": ("bid", "10 seconds"), "H": ("highest", "0 seconds")},
        "B.slot = H.slot AND B.price = H.price",
        "B.auction, B.price, B.bidder, B.ts AS bid_ts",
        "SELECT B.auction, B.price, B.bidder, B.ts AS bid_ts FROM bid B "
        "JOIN (SELECT slot, max(price) AS price FROM bid GROUP BY slot) H ON B.slot = H.slot AND B.price = H.price",
    ),
    "q8": NexmarkQuery(
        {"P": ("person", "10 seconds"), "A": ("auction", "10 seconds")},
        "P.id = A.seller AND P.slot = A.slot",
        "P.id, P.name, A.id AS auction",
        "SELECT P.id, P.name, A.id AS auction FROM person P JOIN auction A ON P.id = A.seller AND P.slot = A.slot",
    ),
    "q9": _BIDS_OF_OPEN_AUCTIONS,
    "q20": NexmarkQuery(
        {"B": ("bid", WINDOW), "A": ("auction", WINDOW)},
        "B.auction = A.id AND A.category = 10",
        "B.auction, B.bidder, B.price, A.seller, A.expires",
        "SELECT B.auction, B.bidder, B.price, A.seller, A.expires FROM bid B JOIN auction A ON B.auction = A.id "
        f"WHERE A.category = 10 AND {BOTH_WAYS.format(a='B', b='A')}",
    ),
    "q23": NexmarkQuery(
        {"B": ("bid", WINDOW), "A": ("auction", WINDOW), "P": ("person", WINDOW)},
        "B.auction = A.id AND A.seller = P.id",
        "B.auction, B.price, P.name, P.state",
        "SELECT B.auction, B.price, P.name, P.state FROM bid B JOIN auction A ON B.auction = A.id "
        f"JOIN person P ON A.seller = P.id WHERE {BOTH_WAYS.format(a='B', b='A')} "
        f"AND {BOTH_WAYS.format(a='A', b='P')} AND {BOTH_WAYS.format(a='B', b='P')}",
    ),
}

# What follows the join, over its results ``found``; the same text for Dovetail's rows and for DuckDB's.
AFTERWARDS = {
    "q4": "SELECT category, avg(highest) AS average FROM "
    "(SELECT id, category, max(price) AS highest FROM found GROUP BY id, category) GROUP BY category",
    "q9": "SELECT * FROM found QUALIFY row_number() OVER (PARTITION BY id ORDER BY price DESC, bid_ts, bidder) = 1",
}
