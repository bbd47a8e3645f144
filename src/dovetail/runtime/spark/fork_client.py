"""What Java starts as Python: it has the fork server make the process that Java wants, and waits until that has ended.

    fork_client.py socket -m pyspark.sql.worker.create_data_source

It runs without site-packages, so that it takes hundredths of a second. Where no server answers, or Java wants something
else than a module, it becomes the interpreter that Java has asked for.
"""

import os
import signal
import socket
import sys


def forked(server: str, arguments: list[str]) -> bool:
    """Whether a fork of the server has been the process that is wanted; it has ended."""
    with socket.socket(socket.AF_UNIX) as here:
        try:
            here.connect(server)
            socket.send_fds(here, [b"\0"], [0, 1, 2])
            told = [b"%d" % len(arguments), *map(os.fsencode, arguments)]
            told += [name + b"=" + value for name, value in os.environb.items()]
            here.sendall(b"\0".join(told))
            here.shutdown(socket.SHUT_WR)
            process = here.recv(64)
        except OSError:
            return False
        if not process:
            return False
        signal.signal(signal.SIGTERM, lambda *_: os.kill(int(process), signal.SIGTERM))
        while here.recv(64):
            pass
    return True


if __name__ == "__main__":
    _, server, *arguments = sys.argv
    if arguments[:1] != ["-m"] or not forked(server, arguments[1:]):
        os.execv(sys.executable, [sys.executable, *arguments])
