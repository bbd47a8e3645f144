"""As-of joins with a memory budget.

policy    what an as-of join asks of whoever keeps it inside its memory
holdings  what it holds
limit     a batch that would not fit is refused
on_disk   rows that do not fit go to disk, and are looked up there when rows are answered
part      what is known of rows on disk without reading them
section   rows on disk as a part of the state
"""
