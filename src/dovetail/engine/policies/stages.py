"""The stages of one engine as its policies see them."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from dovetail.engine.admit.inputs import Inputs
from dovetail.engine.combine.store import Store
from dovetail.engine.deliver.exit import Exit

Rows = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Stages:
    """The way in, the windows, and the way out."""

    inputs: Inputs
    store: Store
    exit: Exit
