"""What the files of a checkpoint tell: whose it is, how far it has come, and whether it was finished."""

import json

import pyarrow as pa
import pyarrow.fs as pafs

from dovetail.errors import StateError
from dovetail.model.stamp import stamp
from dovetail.runtime.files.listing import filesystem

_MARK = "finished"


def check_open(checkpoint: str) -> None:
    """StateError if a checkpoint was finished."""
    try:
        store, folder = filesystem(checkpoint)
        finished = store.get_file_info([f"{folder}/{_MARK}"])[0].is_file
    except (OSError, pa.ArrowException):  # a place that Spark can reach and Arrow cannot: nobody can have finished it
        return
    if finished:
        raise StateError(
            f"{checkpoint} was finished: its last rows have been written as if its inputs had ended. Start the query "
            f"with another checkpoint, or remove {checkpoint}/{_MARK} and the rows of its last batch"
        )


def mark_finished(checkpoint: str, batch: int) -> None:
    """Note that a checkpoint is finished, by this batch."""
    store, folder = filesystem(checkpoint)
    with store.open_output_stream(f"{folder}/{_MARK}") as file:
        file.write(json.dumps(stamp(1) | {"batch": batch}).encode())


def query_id_of(checkpoint: str) -> str:
    """The id that Spark gave to the query of a checkpoint."""
    store, folder = filesystem(checkpoint)
    try:
        with store.open_input_stream(f"{folder}/metadata") as file:
            return str(json.loads(file.read().decode().splitlines()[0])["id"])
    except (OSError, ValueError, KeyError) as error:
        raise StateError(f"{checkpoint} is no checkpoint of a streaming query: {error}") from error


def last_batch(checkpoint: str) -> int:
    """The number of the last batch; StateError if it was begun and not completed: its rows would be missing."""
    begun, done = (_largest(checkpoint, folder) for folder in ("offsets", "commits"))
    if begun != done:
        raise StateError(
            f"{checkpoint}: batch {begun} was begun and not completed. Run the query once more, to its end "
            "(trigger={'availableNow': True}), and finish it then"
        )
    return done


def _largest(checkpoint: str, name: str) -> int:
    store, folder = filesystem(checkpoint)
    files = store.get_file_info(pafs.FileSelector(f"{folder}/{name}", allow_not_found=True))
    return max((int(file.base_name) for file in files if file.base_name.isdecimal()), default=-1)
