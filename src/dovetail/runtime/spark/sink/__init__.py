"""A Python data source of Spark that takes results as blobs, so that no row of theirs is Java's either.

parquet   files of a batch: written aside by tasks, and moved into place by the commit
delta     the same, and the commit is an entry in the log of a table
kafka     the same, and the commit is a transaction of a topic
sink      the sink that Spark drives
start     a query started into it
"""
