"""Makes a story that fails small: fewer faults, fewer batches, as long as it still fails."""

from collections.abc import Callable
from dataclasses import replace

from tests.simulation.story import Story

_LAST = 2  # batches that end a story, so that all that waits comes out


def shrink(story: Story, fails: Callable[[Story], bool]) -> Story:
    """The smallest story found that fails as well; the same one for the same story."""
    return _fewer_faults(_fewer_batches(_fewer_faults(story, fails), fails), fails)


def _fewer_faults(story: Story, fails: Callable[[Story], bool]) -> Story:
    """Leaves out faults, at first half of them at a time, then one by one."""
    size = max(1, len(story.faults) // 2)
    while True:
        at = 0
        while at < len(story.faults):
            other = replace(story, faults=story.faults[:at] + story.faults[at + size :])
            if fails(other):
                story = other
            else:
                at += size
        if size == 1:
            return story
        size //= 2


def _fewer_batches(story: Story, fails: Callable[[Story], bool]) -> Story:
    for at in reversed(range(len(story.batches) - _LAST)):
        moved = tuple(
            replace(fault, batch=fault.batch - (fault.batch > at)) for fault in story.faults if fault.batch != at
        )
        other = replace(story, batches=story.batches[:at] + story.batches[at + 1 :], faults=moved)
        if fails(other):
            story = other
    return story


def told(story: Story) -> str:
    """The story in words."""
    lines = [
        f"seed {story.seed}: {story.case}, {story.partitions} partitions on {story.executors} executors, "
        f"sink {story.sink}, {len(story.batches)} batches"
    ]
    lines += [f"  batch {fault.batch}, task {fault.place}: {fault.kind} ({fault.at})" for fault in story.faults]
    return "\n".join(lines)
