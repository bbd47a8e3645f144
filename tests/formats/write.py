"""Write the state of every query that has no snapshot yet: python -m tests.formats.write FOLDER."""

import sys
from pathlib import Path

from tests.formats.queries import BEFORE, local_of, pushes, queries, streams_of, threads_at_once


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, query in queries().items():
        if (folder / f"{name}.snapshot").exists():
            continue
        run = query.local(**local_of(name))
        with threads_at_once():
            for stream, rows in pushes(streams_of(query), *BEFORE):
                run.push(stream, rows)
        (folder / f"{name}.snapshot").write_bytes(run.snapshot())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
