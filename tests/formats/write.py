"""Write the state of every query of ``queries`` as a snapshot: python -m tests.formats.write FOLDER."""

import sys
from pathlib import Path

from tests.formats.queries import BEFORE, pushes, queries, streams_of


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, query in queries().items():
        run = query.local()
        for stream, rows in pushes(streams_of(query), *BEFORE):
            run.push(stream, rows)
        (folder / f"{name}.snapshot").write_bytes(run.snapshot())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
