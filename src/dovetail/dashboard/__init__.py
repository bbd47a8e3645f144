"""The live page: reads reports and nothing else, so it can neither slow nor stop a join.

    files of reports -> tail (new lines) -> incoming (checked values) -> joins (an hour of history) -> view -> server

Nothing in a report is trusted: a line may come from anywhere, and a stream may have any name.
"""
