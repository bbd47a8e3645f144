"""Spark's version as numbers that can be compared; platforms put words of their own behind the third.

4.0.1 -> (4, 0)        4.1.0-amzn-2 -> (4, 1)
"""


def spark_version(text: str) -> tuple[int, int]:
    """The numbers of a feature release."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)
