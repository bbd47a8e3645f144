"""Bound expressions over whole columns, with SQL's three-valued logic.

    evaluate(gt(T.value, 40), {("T", "value"): [39, null, 41]}, 3)   ->   [false, null, true]

``compile_expression`` walks the tree once and returns a function of columns; ``evaluate`` is that, called at once.
"""

from dovetail.engine.evaluate.compile import Columns, Compiled, compile_expression, evaluate

__all__ = ["Columns", "Compiled", "compile_expression", "evaluate"]
