"""The state after the last call that went well, so that a call that fails can be undone.

It is kept as slices and a header, and what each call changed is added to it: that costs what the call changed, and as
much memory again as the state itself. So only queries have it that call functions of the user's own, or ask for it.
"""

import pyarrow as pa

from dovetail.engine.buffer.section import Changes, SliceKey


class LastGood:
    """Slices and header; ``keep`` follows an engine, ``state`` is for one that takes its place."""

    def __init__(self) -> None:
        self._slices: dict[SliceKey, pa.RecordBatch] = {}
        self._header = b""

    def keep(self, changes: Changes) -> None:
        """A call went well, and changed this."""
        self._slices |= changes.new
        for key in changes.gone:
            del self._slices[key]
        self._header = changes.header

    def state(self) -> Changes:
        """Everything, for an engine that is new."""
        return Changes(dict(self._slices), [], self._header)
