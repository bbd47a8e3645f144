"""Expressions compiled once per process, however often and by whichever engine they are evaluated."""

from functools import lru_cache

from dovetail.engine.evaluate import compile_expression

compiled = lru_cache(maxsize=4096)(compile_expression)
