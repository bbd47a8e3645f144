"""A Python data source of Spark that reads, decodes, filters and packs by itself, so that no row is ever Java's.

work      what it must know; a value in the source's options
tasks     the work of a batch, dealt out to tasks
source    the source that Spark drives: positions, tasks, and what a task reads
hot       keys of a batch that are split, found while it is planned
frame     the source as a DataFrame of packed rows
"""
