"""What Linux tells of the sizes of processes."""

import subprocess
import sys

from benchmarks.memory import watched


def test_the_largest_size_of_a_process_is_kept_after_it_has_shrunk() -> None:
    grows = "held = b'1' * 200_000_000; del held; print(flush=True); input()"
    with watched() as peaks:
        command = [sys.executable, "-c", grows]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            peaks.look()
            process.communicate("\n")
    found = peaks.largest()
    assert found["worker_mb"] > 200
    assert found["java_mb"] == 0
