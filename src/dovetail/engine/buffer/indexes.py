"""The indexes of one window: chains over keys and over cells of a number line, and sorted runs.

An index holds ids; the numbers that it is built from are the window's attributes. Indexes that tuples are counted by
(row windows of each key) hold a tuple as soon as it is stored, those that probes use once it is shown to them.
"""

from dovetail.engine.buffer.attributes import Attributes, Source
from dovetail.engine.buffer.hashed import CellIndex, HashIndex
from dovetail.engine.buffer.paired import PairIndex
from dovetail.engine.buffer.ranked import SortedIndex
from dovetail.plan.physical import Group, Pair, Ranking, Storage


class Indexes:
    """The indexes that a storage asks for; ``hashed``, ``celled`` and ``ranked`` by what they are built from."""

    def __init__(self, storage: Storage, attributes: Attributes) -> None:
        self._attributes = attributes
        self.hashed = {key: HashIndex() for key in storage.hashed}
        self.celled = {cells: CellIndex(cells.width) for cells in storage.celled}
        self.ranked = {ranking: _sorted_index(ranking) for ranking in storage.sorted}
        self._counting, self._probed = self._chains()

    def _chains(self) -> tuple[list[tuple[Source, HashIndex]], list[tuple[Source, HashIndex]]]:
        """The chains that tuples are counted by, and those that they are found by, with what they are built from."""
        keyed = [(self._attributes[key], index, isinstance(key, Group)) for key, index in self.hashed.items()]
        celled = [(self._attributes[cells.number], index) for cells, index in self.celled.items()]
        counting = [(source, index) for source, index, counts in keyed if counts]
        return counting, [(source, index) for source, index, counts in keyed if not counts] + celled

    @property
    def nbytes(self) -> int:
        """Memory held, including what is free for more."""
        chained = sum(index.nbytes for _, index in (*self._counting, *self._probed))
        return chained + sum(index.nbytes for index in self.ranked.values())

    @property
    def heads_nbytes(self) -> int:
        """The part that follows the number of tuples in steps: the first links of all chains."""
        return sum(index.heads.nbytes for _, index in (*self._counting, *self._probed))

    def heads_nbytes_for(self, slots: int) -> int:
        """The same with room for so many tuples."""
        return (8 << slots.bit_length()) * (len(self._counting) + len(self._probed))

    def insert(self, base: int, first: int, last: int) -> None:
        """Add the tuples with ids first..last-1, stored at slot id - base."""
        self.count(base, first, last)
        self.show(base, first, last)

    def count(self, base: int, first: int, last: int) -> None:
        """Add them where tuples are counted only."""
        for source, index in self._counting:
            index.insert(source.data, base, first, last)

    def show(self, base: int, first: int, last: int) -> None:
        """Add them where probes look; they are counted already."""
        for source, index in self._probed:
            index.insert(source.data, base, first, last)
        for ranking, runs in self.ranked.items():
            self._rank(ranking, runs, base, first, last)

    def _rank(self, ranking: Ranking, runs: SortedIndex, base: int, first: int, last: int) -> None:
        if isinstance(ranking, Pair):
            assert isinstance(runs, PairIndex)
            runs.insert_pairs(
                self._attributes[ranking.key].data, self._attributes[ranking.number].data, base, first, last
            )
        else:
            runs.insert(self._attributes[ranking].data, base, first, last)

    def change(self, storage: Storage, base: int, tail: int, shown: int, end: int, capacity: int) -> None:
        """Have what another storage asks for: what is there stays, what is new is built from tail..end-1."""
        before = [*self.hashed.values(), *self.celled.values(), *self.ranked.values()]
        self.hashed = {key: self.hashed.get(key) or HashIndex() for key in storage.hashed}
        self.celled = {cells: self.celled.get(cells) or CellIndex(cells.width) for cells in storage.celled}
        self.ranked = {ranking: self.ranked.get(ranking) or _sorted_index(ranking) for ranking in storage.sorted}
        self._counting, self._probed = self._chains()
        for chained, stop in ((self._counting, end), (self._probed, shown)):
            for source, index in chained:
                if index not in before:
                    index.build(source.data, base, tail, stop, capacity)
        for ranking, runs in self.ranked.items():
            if runs not in before and end > tail:
                self._rank(ranking, runs, base, tail, shown)

    def expire(self, tail: int, live: int) -> None:
        """Tuples before id ``tail`` are gone; so many are left. Chains end there by themselves."""
        for index in self.ranked.values():
            index.expire(tail, live)

    def move(self, start: int, stop: int, capacity: int) -> None:
        """Keep slots start..stop-1 only, as 0.., with room for ``capacity``; ``resize`` follows."""
        for _, index in (*self._counting, *self._probed):
            index.move(start, stop, capacity)

    def resize(self, base: int, tail: int, shown: int, end: int) -> None:
        """As many chains as there is room for tuples."""
        for chained, last in ((self._counting, end), (self._probed, shown)):
            for source, index in chained:
                index.resize(source.data, base, tail, last)


def _sorted_index(ranking: Ranking) -> SortedIndex:
    return PairIndex() if isinstance(ranking, Pair) else SortedIndex()
