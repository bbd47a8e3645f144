"""A few results as text, for people to look at.

>>> import pyarrow as pa
>>> sample_rows(pa.record_batch({"location": ["A-07", "A-08"], "value": [44.9, None]}))
{'columns': ['location', 'value'], 'rows': [['A-07', '44.9'], ['A-08', '']]}
"""

from typing import Any

import pyarrow as pa

ROWS = 8  # a table that fits beside the plots
COLUMNS = 12  # a table that fits beside the plots
CHARACTERS = 80  # of a value: a line of the page


def sample_rows(batch: pa.RecordBatch | pa.Table) -> dict[str, Any]:
    """The last rows of a batch: some columns, and of each cell a beginning."""
    names = batch.schema.names[:COLUMNS]
    last = batch.slice(max(0, batch.num_rows - ROWS)).select(names)
    columns = [[_text(cell) for cell in last.column(at).to_pylist()] for at in range(len(names))]
    return {"columns": [_text(name) for name in names], "rows": [list(row) for row in zip(*columns, strict=True)]}


def _text(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 1] + "…"
