"""A Spark standalone cluster on loopback: a master and some workers, each a process of its own, gone at the end."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pyspark

RUN = str(Path(pyspark.__file__).parent / "bin" / "spark-class")


class Cluster(NamedTuple):
    """Where its master listens; its workers, which may be killed."""

    master: str
    workers: "list[subprocess.Popen[bytes]]"


@contextmanager
def cluster(workers: int = 2, cores: int = 1) -> "Iterator[Cluster]":
    """What its executors write lies in a folder that goes with the block."""
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        port = found.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="spark-cluster-") as folder:
        where, master = ["--host", "127.0.0.1", "--webui-port", "0"], f"spark://127.0.0.1:{port}"
        started = [_start(folder, "master", ["org.apache.spark.deploy.master.Master", *where, "--port", str(port)])]
        _wait_for(port)
        worker = ["org.apache.spark.deploy.worker.Worker", *where, "--cores", str(cores), "-d", folder, master]
        started += [_start(folder, f"worker-{number}", worker) for number in range(workers)]
        try:
            yield Cluster(master, started[1:])
        finally:
            for process in (each for each in started if each.poll() is None):
                kill(process)


def _start(folder: str, name: str, words: list[str]) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    with open(f"{folder}/{name}.log", "wb") as log:
        return subprocess.Popen([RUN, *words], env=environment, stdout=log, stderr=log, start_new_session=True)


def _wait_for(port: int) -> None:
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.1)


def kill(process: "subprocess.Popen[bytes]") -> None:
    """A process and all that it started, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
