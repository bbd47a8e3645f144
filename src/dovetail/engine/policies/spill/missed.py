"""The combinations that memory missed: parts on disk with each other and with what is in memory.

    A: memory, part 1        start at part 1, then B's memory and B's part 2
    B: memory, part 2        start at part 2, then A's memory          (A's part 1 with part 2 came above)

Every owed combination has a member on disk; it is found from the first stream, in order of the query, whose member is.
One part per stream is in memory at a time. Parts that cannot meet, by time or by key, or owe nothing, are not read.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from functools import partial as bound

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.candidates import bind
from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.probe import alone, lengthened
from dovetail.engine.deliver.places import Members as Places
from dovetail.engine.deliver.places import windows_of
from dovetail.engine.policies.spill.already_made import all_made, owed, possible
from dovetail.engine.policies.spill.loaded import Loaded, in_memory, loaded
from dovetail.engine.policies.spill.part import Part, Span, root_of
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Stages
from dovetail.plan.physical import Level

Members = Mapping[str, Loaded]
Found = tuple[Members, Partial]
Source = Part | None  # a part, or what is in memory
Sources = Callable[[str], Sequence[Source]]


@dataclass(frozen=True)
class Owed:
    """Finds them; ``passed`` is the epoch after which everything was last joined with everything."""

    stages: Stages
    store: PartStore
    parts: Sequence[Part]
    passed: int

    def everything(self) -> Iterator[Found]:
        """All that is owed."""
        for part in self.parts if self.stages.store.plan.query.found_on_arrival else ():
            yield from self._from(part, bound(self._sources, part))

    def with_memory(self, part: Part) -> Iterator[Found]:
        """What is owed of one part with what is in memory of all other streams."""
        return self._from(part, lambda name: (None,))

    def _sources(self, start: Part, name: str) -> Sequence[Source]:
        """What a part is joined with: memory, and parts of streams behind its own that may have keys of it."""
        names = self.stages.store.plan.query.names
        if names.index(name) < names.index(start.stream):
            return (None,)
        return [None, *self.parts_of(name, start.span.partition)]

    def parts_of(self, name: str, partition: int | None = None) -> Sequence[Part]:
        """Of a stream: all, or those that may have keys of a partition."""
        if partition is None:
            return [part for part in self.parts if part.stream == name]
        return [part for root in (None, root_of(partition)) for part in self._by_root.get((name, root), ())]

    def beside(self, name: str, members: Places, first: int, last: int) -> Iterator[AbstractContextManager[Loaded]]:
        """Tuples of a stream that may meet these members, if some are between two times: in memory, then each part."""
        loaded = {each: place for each, place in members.items() if isinstance(place, Loaded)}
        partitions = (place.span.partition for place in loaded.values() if place.span.partition is not None)
        for source in (None, *self.parts_of(name, next(partitions, None))):
            spans = self._spans(loaded, name, source)
            there = spans[name].earliest <= last and spans[name].latest >= first
            if there and possible(spans, self.stages.store.widths):
                yield self.opened(name, source)

    @cached_property
    def _by_root(self) -> Mapping[tuple[str, int | None], Sequence[Part]]:
        found: defaultdict[tuple[str, int | None], list[Part]] = defaultdict(list)
        for part in self.parts:
            partition = part.span.partition
            found[part.stream, None if partition is None else root_of(partition)].append(part)
        return found

    def _from(self, part: Part, sources: Sources) -> Iterator[Found]:
        name = part.stream
        with self.opened(name, part) as start:
            first = alone(name, start.window, start.window.tail, start.window.end, self.stages.store.widths[name])
            if len(first):
                yield from self._extend(self.stages.store.plan.probes[name], {name: start}, first, sources)

    def opened(self, name: str, source: Source) -> AbstractContextManager[Loaded]:
        """Tuples of a stream in memory, for as long as they are joined."""
        if source is None:
            return nullcontext(in_memory(self.stages, name))
        return loaded(self.stages, self.store, source)

    def _extend(self, levels: Sequence[Level], members: Members, partial: Partial, sources: Sources) -> Iterator[Found]:
        if not levels:
            yield from self._not_made(members, partial)
            return
        level, rest = levels[0], levels[1:]
        for source in sources(level.stream):
            if self._owes(members, level.stream, source, complete=not rest):
                with self.opened(level.stream, source) as more:
                    longer = {**members, level.stream: more}
                    for found in extended(level, windows_of(longer), partial, self.stages.store.widths[level.stream]):
                        yield from self._extend(rest, longer, found, sources)

    def _owes(self, members: Members, name: str, source: Source, complete: bool) -> bool:
        spans = self._spans(members, name, source)
        return possible(spans, self.stages.store.widths) and not (complete and all_made(spans, self.passed))

    def _spans(self, members: Members, name: str, source: Source) -> dict[str, Span]:
        span = in_memory(self.stages, name).span if source is None else source.span
        return {**{each: member.span for each, member in members.items()}, name: span}

    def _not_made(self, members: Members, partial: Partial) -> Iterator[Found]:
        arrived = {name: member.arrived(partial.ids[name]) for name, member in members.items()}
        departed = {name: member.departed(partial.ids[name]) for name, member in members.items()}
        keep = owed(arrived, departed, {name: member.span for name, member in members.items()}, self.passed)
        if keep.any():
            yield members, partial.where(keep)


def extended(level: Level, windows: Mapping[str, Window], partial: Partial, width: int) -> Iterator[Partial]:
    """Partial results with one tuple more, in pieces."""
    window = windows[level.stream]
    if not len(window):
        return iter(())
    return lengthened(level, windows, partial, bind(level.access, windows, window, width).pieces(partial), width)
