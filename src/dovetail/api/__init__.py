"""The public surface: what a user calls, one idea per file.

streams        a named input; tables: one that is a table
functions      a user's own function, by name in a text
build          join, sql: from text and options to a query
query          Query: run it, explain it, change its options
shared_query   share: many queries as one operator
reports        what a running join tells about itself; calibration: what work costs on this machine
"""

from dovetail.api.build import join, sql
from dovetail.api.calibration import calibrate
from dovetail.api.functions import function
from dovetail.api.query import Query
from dovetail.api.reports import report, spark_metrics
from dovetail.api.shared_query import SharedQuery, share
from dovetail.api.streams import stream
from dovetail.api.tables import table

__all__ = [
    "Query",
    "SharedQuery",
    "calibrate",
    "function",
    "join",
    "report",
    "share",
    "spark_metrics",
    "sql",
    "stream",
    "table",
]
