"""Blocks of tuples and the Arrow values in them."""
