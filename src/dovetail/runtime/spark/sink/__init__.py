"""Sinks that take results as Arrow, so that no row of theirs is Java's either.

parquet   files of a batch: written aside by tasks, and moved into place by the commit
delta     the same, and the commit is an entry in the log of a table
kafka     the same, and the commit is a transaction of a topic
filed     the operator's results as such files
start     a query started into a sink
"""
