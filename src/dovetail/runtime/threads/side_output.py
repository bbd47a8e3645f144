"""The rows that did not come in, of all cells."""

from collections.abc import Sequence

import pyarrow as pa

from dovetail.engine.operator.contract import Operator
from dovetail.model.stream import Stream


class CellsDiverted:
    """The side output of operators that are cells of one; a row that several of them see is diverted by none."""

    def __init__(self, cells: Sequence[Operator]) -> None:
        self._cells = cells

    def table(self) -> pa.Table:
        """The rows that nobody has taken yet."""
        return pa.concat_tables([cell.diverted.table() for cell in self._cells])

    def drain(self) -> pa.Table:
        """The same; they are forgotten here."""
        return pa.concat_tables([cell.diverted.drain() for cell in self._cells])

    def failed(self, stream: Stream, rows: pa.Table, error: Exception) -> None:
        """Keep the rows of a batch that could not be joined."""
        self._cells[0].diverted.failed(stream, rows, error)
