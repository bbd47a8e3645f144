"""Kang, Naughton, Viglas: Evaluating Window Joins over Unbounded Streams."""

from experiments.outcome import Figure

INTRO = "# Kang: one join of two streams"

FIGURES: dict[str, Figure] = {}
