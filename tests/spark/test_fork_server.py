"""Python processes of a session are forks of one that is warm; without it they are what Spark would have started."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.runtime.spark.forking import forking
from tests.spark.queries import CONDITIONS, build, random_rows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
CLIENT = Path(dv.__file__).parent / "runtime" / "spark" / "fork_client.py"
PROBE = """
import json, os, signal, sys
told = {"arguments": sys.argv[1:], "said": os.environ["SAID"], "read": sys.stdin.readline(), "name": __spec__.name}
warm = "dovetail.runtime.spark.operator" in sys.modules
print(json.dumps(told | {"warm": warm, "seed": hash("a") == int(os.environ["HASHED"])}))
print("an error", file=sys.stderr)
if sys.argv[1:] == ["waits"]:
    signal.pause()
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "probe.py").write_text(PROBE)
    seeded = {**os.environ, "PYTHONHASHSEED": "0"}
    hashed = subprocess.run([sys.executable, "-c", "print(hash('a'))"], env=seeded, capture_output=True, text=True)
    places = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return seeded | {"PYTHONPATH": places, "SAID": "hello", "HASHED": hashed.stdout.strip()}


@pytest.mark.parametrize("served", [True, False])
def test_a_process_is_what_was_asked_for(served: bool, environment: dict[str, str], spark: Any) -> None:
    python = [forking().python] if served else [sys.executable, "-I", "-S", str(CLIENT), "/nowhere/fork"]
    ran = subprocess.run(
        [*python, "-m", "probe", "a", "b c"], env=environment, input="a line\n", capture_output=True, text=True
    )
    assert ran.stderr == "an error\n"
    expected = {"arguments": ["a", "b c"], "said": "hello", "read": "a line\n", "name": "probe", "seed": True}
    assert json.loads(ran.stdout) == expected | {"warm": served}


def test_who_ends_the_client_ends_the_process(environment: dict[str, str], spark: Any) -> None:
    told = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    client = subprocess.Popen([forking().python, "-m", "probe", "waits"], env=environment, **told)  # type: ignore[call-overload]
    client.stdin.write(b"\n")
    client.stdin.flush()
    assert json.loads(client.stdout.readline())["warm"]
    client.send_signal(signal.SIGTERM)
    assert client.stdout.read() == b"", "nobody writes there any more"
    client.wait(10)


def test_the_server_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = "from dovetail.runtime.spark.forking import forking; f = forking(); print(f.server.pid, f.python)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    pid, python = ran.stdout.split()
    until = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    assert not Path(python).parent.exists()


def test_no_other_python_is_started_for_a_query(spark: Any, tmp_path: Path) -> None:
    """Neither for its source nor for its state: of all Python processes of Java's, only clients are not forks."""
    names, on = CONDITIONS["one key"]
    for place, name in enumerate(names):
        (tmp_path / name).mkdir()
        pq.write_table(random_rows(place, 40), tmp_path / name / "1.parquet")
    query = build(on, {name: dv.files(str(tmp_path / name)) for name in names})
    sink, checkpoint = dv.parquet(str(tmp_path / "out")), str(tmp_path / "checkpoint")
    running = query.write(sink, checkpoint, session=spark, trigger={"processingTime": "1 second"})
    running.processAllAvailable()
    java = spark.sparkContext._jvm.java.lang.ProcessHandle.current()
    started = [str(child.info().commandLine().orElse("")) for child in java.children().toArray()]
    running.stop()
    assert any("python_streaming_source_runner" in command for command in started)
    assert all("fork_client.py" in command for command in started if "python" in command)
