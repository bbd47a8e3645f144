"""One process with all imported, of which every Python process of a session is a fork: workers, planners, sources.

    Spark by itself    until a first batch is done it starts six interpreters one after the other, and each imports what
                       it needs, Spark's part from a zip of sources that is compiled every time
    here               it starts ``fork_client`` in their place, which hands streams, environment and arguments on

It imports while Java starts, and ends with the process that started it (``forking``). ``daemon`` says why it must have
no threads.
"""

import os
import runpy
import select
import shutil
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """A module to run, with its arguments; the environment to do so in, and standard streams."""

    arguments: list[str]
    environment: dict[str, str]
    streams: list[int]

    def run(self) -> None:
        """Be that process, and end as it does."""
        for number, stream in enumerate(self.streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(self.environment)
        places = self.environment.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[1:1] = [place for place in places if place and place not in sys.path]
        module, *rest = self.arguments
        sys.argv = ["-m", *rest]
        sys.modules.pop(module, None)  # it may have been imported, and is now run
        runpy.run_module(module, run_name="__main__", alter_sys=True)


def serve(listening: socket.socket) -> Wanted | None:
    """Fork until standard input ends; in each fork, what it is to do."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    poller = select.poll()
    poller.register(0, select.POLLIN | select.POLLHUP)
    poller.register(listening, select.POLLIN)
    while not any(number == 0 for number, _ in poller.poll()):
        client, _ = listening.accept()
        with client, suppress(OSError, EOFError):
            wanted = _asked(client)
            if os.fork() == 0:
                listening.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.set_inheritable(client.fileno(), False)
                client.sendall(str(os.getpid()).encode())
                client.detach()  # open until this process has ended, by which the client knows
                return wanted
            for stream in wanted.streams:
                os.close(stream)
    return None


def _asked(client: socket.socket) -> Wanted:
    _, streams, _, _ = socket.recv_fds(client, 1, 3)
    with client.makefile("rb") as told:
        count, *parts = [os.fsdecode(part) for part in told.read().split(b"\0")]
    arguments, environment = parts[: int(count)], dict(part.split("=", 1) for part in parts[int(count) :])
    return Wanted(arguments, environment, streams)


if __name__ == "__main__":
    from dovetail.runtime.spark.daemon import warm

    _, folder, number = sys.argv
    wanted = None
    with socket.socket(fileno=int(number)) as listening:
        if warm():
            wanted = serve(listening)
    if wanted is not None:
        wanted.run()
    else:
        shutil.rmtree(folder, ignore_errors=True)
