"""Who says how much may be joined now: the engine asks before every piece, and what may not go on waits at the gate."""

from typing import Any, Protocol


class Pacer(Protocol):
    """A CPU budget as the engine sees it."""

    def rows(self) -> int:
        """How many waiting rows may go on now; 0: none before more time is given."""

    def room(self, stream: str) -> int:
        """How many rows of a stream may wait; what comes beyond is dropped at the door."""

    def metrics(self) -> dict[str, Any]:
        """What was given and used, what is left out, what is missing."""
