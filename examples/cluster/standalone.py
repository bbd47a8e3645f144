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
from dataclasses import dataclass
from pathlib import Path

import pyspark

RUN = str(Path(pyspark.__file__).parent / "bin" / "spark-class")


@dataclass(frozen=True)
class Cluster:
    """Where the master listens, and the workers, which may be killed."""

    master: str
    workers: "list[subprocess.Popen[bytes]]"


@contextmanager
def cluster(workers: int = 2, cores: int = 1) -> "Iterator[Cluster]":
    """Ready for work; what executors write lies in a folder that goes with the block."""
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        port = found.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="spark-cluster-") as folder:
        master, where = f"spark://127.0.0.1:{port}", ["--host", "127.0.0.1", "--webui-port", "0"]
        started = [_start(folder, "master", ["org.apache.spark.deploy.master.Master", *where, "--port", str(port)])]
        _wait_for(port)
        worker = ["org.apache.spark.deploy.worker.Worker", *where, "--cores", str(cores), "-d", folder, master]
        started += [_start(folder, f"worker-{number}", worker) for number in range(workers)]
        try:
            yield Cluster(master, started[1:])
        finally:
            for process in filter(_lives, started):
                kill(process)


def _start(folder: str, name: str, words: list[str]) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    with (Path(folder) / f"{name}.log").open("wb") as log:
        return subprocess.Popen([RUN, *words], env=environment, stdout=log, stderr=log, start_new_session=True)


def _wait_for(port: int) -> None:
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.1)


def _lives(process: "subprocess.Popen[bytes]") -> bool:
    return process.poll() is None


def kill(process: "subprocess.Popen[bytes]") -> None:
    """A worker with its executors and their Python, all at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
