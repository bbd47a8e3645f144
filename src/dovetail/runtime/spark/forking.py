"""The fork server of this process, started when a first session is made; ``fork_server`` says what it is for."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_AT_ONCE = 64  # clients that may wait while it imports


@dataclass(frozen=True)
class Forking:
    """A server that runs, and what to start as Python; the server ends when this process does."""

    python: str
    server: "subprocess.Popen[bytes] | None" = None


@cache
def forking() -> Forking:
    """One for all sessions of this process; plain Python where it cannot be had."""
    if sys.platform != "linux":
        return Forking(sys.executable)
    folder = tempfile.mkdtemp(prefix="dovetail-python-")
    program, address = Path(folder, "python"), f"{folder}/fork"
    client = Path(__file__).with_name("fork_client.py")
    parts = map(shlex.quote, (sys.executable, "-I", "-S", str(client), address))
    program.write_text(f'#!/bin/sh\nexec {" ".join(parts)} "$@"\n')
    program.chmod(0o700)
    if not os.access(program, os.X_OK):  # nothing may be executed there
        shutil.rmtree(folder)
        return Forking(sys.executable)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(_AT_ONCE)
        number = listening.fileno()
        server = subprocess.Popen(
            [sys.executable, "-m", "dovetail.runtime.spark.fork_server", folder, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={"PYTHONHASHSEED": "0", **os.environ, "PYTHONUNBUFFERED": "YES"},  # as Spark starts its own
            pass_fds=[number],
            start_new_session=True,  # an interrupt from the keyboard is for the program
        )
    return Forking(str(program), server)
