"""The ends of time: every event time lies between them, so that sums with windows do not overflow."""

BEFORE_ALL = -(1 << 62)  # a window's length can be taken off without overflow
AFTER_ALL = 1 << 62  # a window's length can be added without overflow
NEVER = AFTER_ALL - 1  # a time that does not come, but before the end
