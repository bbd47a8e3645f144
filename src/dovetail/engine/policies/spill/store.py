"""Where flushed parts are: rows under a number, written, read and deleted."""

from typing import Protocol

import pyarrow as pa


class PartStore(Protocol):
    """``is_state``: what is written here is part of the state already, and need not be handed out as changes."""

    is_state: bool

    def write(self, number: int, rows: pa.RecordBatch) -> None:
        """Keep rows, in place of what was there; BudgetError if there is no room, and then nothing has changed."""

    def read(self, number: int) -> pa.RecordBatch:
        """The rows; StateError if they are not there any more."""

    def delete(self, number: int) -> None:
        """Nobody needs them any more."""

    def close(self) -> None:
        """Nobody needs any of them."""
