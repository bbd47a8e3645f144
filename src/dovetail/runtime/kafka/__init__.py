"""Kafka topics as a source of rows: which messages are new, and how they are decoded; without Spark.

client    the one place that imports a Kafka client
feed      which messages lie after a position, and what of them is one batch
values    what messages hold, as columns
"""
