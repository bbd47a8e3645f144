"""Folders of files as a source of rows: what is there, in which order, and how it is decoded; without Spark.

delta     which files of a Delta table count
iceberg   which files of an Iceberg table count
listing   what files there are, and what each says of itself (size, rows, times)
same      whether a file is still the one that was planned
decode    a file as record batches: only the columns that are wanted
order     which files are read together, so that no row comes late behind another's
near      which row groups can have partners
feed      which files are new since a position, and what of them is one batch
"""
