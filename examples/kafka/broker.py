"""A Kafka broker on loopback: one process, KRaft mode, gone at the end. Its jars: make kafka-jars."""

import base64
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

JARS = Path(__file__).parents[2] / ".venv" / "jars"
SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
log.dirs={folder}/logs
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


@contextmanager
def broker() -> Iterator[str]:
    """The address of a new and empty broker, which ends with the block."""
    with tempfile.TemporaryDirectory(prefix="kafka-") as folder:
        port, controller = _free_port(), _free_port()
        settings = Path(folder) / "server.properties"
        settings.write_text(SETTINGS.format(port=port, controller=controller, folder=folder))
        java = ["java", "-Xmx512m", "-cp", f"{JARS / 'kafka-broker'}/*"]
        identity = base64.urlsafe_b64encode(b"dovetail example").decode().rstrip("=")
        formatting = ["kafka.tools.StorageTool", "format", "-t", identity, "-c", str(settings)]
        subprocess.run([*java, *formatting], check=True, capture_output=True)
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
        try:
            yield _when_up(process, port)
        finally:
            process.kill()
            process.wait()


def _free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _when_up(process: "subprocess.Popen[bytes]", port: int) -> str:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return f"127.0.0.1:{port}"
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the broker did not start")
