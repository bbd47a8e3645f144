"""What the command line may change about a benchmark."""

from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """``rows`` per stream if given; ``quick``: sizes that show that it works, not how fast it is.

    ``threads``: how many to join on, beside one, where a benchmark measures that.
    """

    rows: int | None = None
    quick: bool = False
    threads: int = 1

    def size(self, full: int, quick: int) -> int:
        """Rows per stream: as asked, or the benchmark's own number.

        >>> Settings(quick=True).size(5_000_000, 100_000), Settings(rows=7).size(5_000_000, 100_000)
        (100000, 7)
        """
        return self.rows or self.choose(full, quick)

    def choose(self, full: T, quick: T) -> T:
        """Any other number, or numbers, that a quick run makes smaller."""
        return quick if self.quick else full
