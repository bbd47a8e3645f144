"""What each of several queries misses when results are left out of the operator that they share.

Each query has an account of its own results, by the same reckoning as that of all: results made, what they stand for,
and how far that may be off. What was not looked at is the same for all of them, and is told with the account of all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.section import HeaderSection
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.policies.shed.estimate import Estimate
from dovetail.engine.policies.shed.weights import Weights

_OWN = ("produced", "missed", "sampling_variance", "dropping_variance")


class QueryAccount:
    """One query's results made and missed."""

    def __init__(self, windows: Mapping[str, Window], like: Weights, number: int) -> None:
        self.estimate = Estimate()
        self.weights = Weights(windows, self.estimate, like, f" {number}")
        self.owed: npt.NDArray[np.float64] | None = None

    def owed_by(self, arrivals: int) -> npt.NDArray[np.float64]:
        """What each arrival of the block that probes now misses."""
        if self.owed is None:
            self.owed = np.zeros(arrivals)
        return self.owed


class QueryAccounts(HeaderSection):
    """The accounts of the queries of a group, by number; none if the operator has one query."""

    section = "accounts"

    def __init__(self, windows: Mapping[str, Window], like: Weights) -> None:
        self._windows, self._like = windows, like
        self._numbers: Sequence[int] = ()
        self._accounts: dict[int, QueryAccount] = {}

    def renew(self, numbers: Sequence[int]) -> None:
        """The queries by their places from now on; who stays keeps the account."""
        for gone in self._accounts.keys() - set(numbers):
            self._accounts.pop(gone).weights.close()
        self._numbers = numbers
        for number in numbers:
            if number not in self._accounts:
                self._accounts[number] = QueryAccount(self._windows, self._like, number)

    def of(self, results: Partial, places: Ids | None) -> Iterator[tuple[Partial, QueryAccount]]:
        """Routed results by query."""
        for place in np.unique(places).tolist() if places is not None else ():
            yield results.at(places == place), self._accounts[self._numbers[place]]

    def end(self, sampling: bool) -> None:
        """A block has probed."""
        for account in self._accounts.values():
            if account.owed is not None:
                account.estimate.add(account.owed, sampling)
                account.owed = None

    def estimates(self, everything: Estimate) -> dict[int, Estimate]:
        """By number, beside the account of all results: what waits will be each query's as what has come was."""
        found = {}
        for number, account in self._accounts.items():
            own = {name: getattr(account.estimate, name) for name in _OWN}
            share = account.estimate.total / everything.total if everything.total else 1.0
            found[number] = replace(everything, **own, pending=everything.pending * share)
        return found

    def header(self) -> dict[str, Any]:
        return {str(number): account.estimate.to_json() for number, account in self._accounts.items()}

    def restore(self, header: dict[str, Any]) -> None:
        for number, values in header.items():
            if int(number) in self._accounts:
                self._accounts[int(number)].estimate.restore(values)
