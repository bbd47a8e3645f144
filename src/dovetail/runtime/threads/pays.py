"""When it pays to have several threads join: where pushes are large, and moving the stored rows is soon earned back.

Around its kernels an engine takes Python's lock some hundred times per push, whatever its size. So many small
pushes are faster on one thread.
"""

LARGE_ROWS = 1 << 15  # of a push: two threads won a fifth or more from there on, and nothing at two thirds of it
_MOVED_PER_PUSH = 1 << 10  # stored rows that can be moved in the time that a small push loses on several threads
_FEW_PUSHES = 8  # small ones among large ones do not matter


class Pays:
    """Counts large and small pushes in a row."""

    def __init__(self) -> None:
        self._rows = 0  # of large pushes
        self._small = 0  # pushes

    def changes_with(self, rows: int, several: bool) -> bool:
        """A push is about to come: whether it may now pay to change, depending on how much is stored."""
        if rows >= LARGE_ROWS:
            self._rows, self._small = self._rows + rows, 0
            return not several
        self._rows, self._small = 0, self._small + 1
        return several and self._small > _FEW_PUSHES

    def several(self, stored: int) -> bool:
        """Whether to deal out so many stored rows now."""
        return self._rows >= stored

    def one(self, stored: int) -> bool:
        """Whether to gather so many stored rows on one thread."""
        return self._small > stored // _MOVED_PER_PUSH
