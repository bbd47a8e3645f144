"""One figure of each paper on a Spark session; ``python -m experiments NAME --spark``."""
