"""``dovetail dashboard``: it says where the page is, takes another port if need be, and ends when told to."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from typer.testing import CliRunner

from dovetail.cli import app
from dovetail.cli.dashboard import open_page
from dovetail.runtime.start_reports import reports_folder


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["dashboard", str(tmp_path / "nowhere")])
    assert done.exit_code == 1
    assert "There is no folder" in done.output


def test_a_host_that_is_not_this_machines(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["dashboard", str(tmp_path), "--host", "192.0.2.1"])
    assert done.exit_code == 1
    assert "Cannot listen on 192.0.2.1" in done.output


def test_another_port_if_the_first_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        page = open_page(tmp_path, port=taken.getsockname()[1])
        try:
            assert not page.address.endswith(f":{taken.getsockname()[1]}/")
            assert urlopen(page.address, timeout=100).status == 200
        finally:
            page.stop()


def test_without_a_folder_it_looks_where_joins_report_by_themselves(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from dovetail.cli import main; main()", "dashboard", "--port", "0"]
    ours = {**os.environ, "DOVETAIL_CACHE": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ours) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = next(word for word in said.split() if word.startswith("http://127.0.0.1:"))
        board = urlopen(f"{address}api/joins", timeout=100).read().decode()
        process.send_signal(signal.SIGINT)
        assert process.wait(200) == 0
    assert str(tmp_path / "reports") in board
    assert reports_folder(tmp_path) == tmp_path
