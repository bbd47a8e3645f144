"""What rows take, by what they took of late: some CPU time each, and some for every comparison.

Example: 100 rows and 1,000 comparisons took 3 seconds, of which a row takes 0.01 whatever it is compared with. Then 10
rows with 400 comparisons will take 0.9.

    >>> price = RowPrice()
    >>> price.learn(3.0, 100, 1000, memory=0.5)
    >>> round(price.of(10, 400, row_s=0.01), 6)
    0.9
"""

from dataclasses import dataclass

from dovetail.engine.buffer.header import finite_all

UNKNOWN_S = 1e-5  # a row, before anything has shown what rows take: a join of few matches


@dataclass
class RowPrice:
    """CPU seconds, rows and comparisons of late."""

    seconds: float = 0.0
    rows: float = 0.0
    compared: float = 0.0

    def learn(self, seconds: float, rows: int, compared: int, memory: float) -> None:
        """So many rows were joined in so much time; of what was known before, ``memory`` still counts."""
        self.seconds = memory * self.seconds + seconds
        self.rows = memory * self.rows + rows
        self.compared = memory * self.compared + compared

    @property
    def each_s(self) -> float:
        """A row, on average; 0 if nothing is known."""
        return self.seconds / self.rows if self.seconds and self.rows else 0.0

    def of(self, rows: int, compared: int, row_s: float) -> float:
        """What rows with so many comparisons will take, if each takes ``row_s`` apart from these."""
        if not self.each_s or not self.compared:
            return rows * (self.each_s or UNKNOWN_S)
        own = min(row_s, self.each_s)
        return rows * own + compared * (self.seconds - own * self.rows) / self.compared

    @property
    def state(self) -> tuple[float, float, float]:
        return self.seconds, self.rows, self.compared

    def restore(self, saved: list[float]) -> None:
        """Back from a state; older ones did not count comparisons."""
        self.seconds, self.rows, self.compared = finite_all([*saved, 0.0][:3], 3)
