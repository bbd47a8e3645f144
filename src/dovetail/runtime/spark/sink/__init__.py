"""A Python data source of Spark that takes results as blobs, so that no row of theirs is Java's either.

parquet   files of a batch: written aside by tasks, and moved into place by the commit
sink      the sink that Spark drives
start     a query started into it
"""
