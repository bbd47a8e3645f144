"""The archive of Spark's classes: who writes it, who maps it, and where there is none."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dovetail.runtime.spark.class_archive import MAGIC, OTHERS, archive_options

STARTED = """
import os, dovetail.runtime.spark.session as of
session = of.spark_session(1)
java = session.sparkContext._gateway.proc.pid
print("MAPPED" if ".jsa" in "".join(open(f"/proc/{java}/maps").read().split("classes.jsa")) else "READ")
session.stop()
"""


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is kept yet; a Java that need not run."""
    (tmp_path / "java" / "bin").mkdir(parents=True)
    (tmp_path / "java" / "bin" / "java").touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def archive_in(options: str) -> Path:
    return Path(options.split()[0].split("=")[1])


def test_an_archive_is_written_until_it_is_whole(caches: Path) -> None:
    options = archive_options()
    archive = archive_in(options)
    assert options.startswith("-XX:ArchiveClassesAtExit=")
    assert archive.is_relative_to(caches / "dovetail")
    archive.write_bytes(bytes(len(MAGIC)) + b"regions, and no header yet")
    assert archive_options() == options
    archive.write_bytes(MAGIC + b"regions")
    assert archive_options() == options.replace("ArchiveClassesAtExit", "SharedArchiveFile")


def test_another_java_has_another_archive(caches: Path) -> None:
    before = archive_in(archive_options())
    os.utime(caches.parent / "java" / "bin" / "java", ns=(1, 1))
    assert archive_in(archive_options()) != before


def test_few_archives_are_kept(caches: Path) -> None:
    folder = archive_in(archive_options()).parent
    for age in range(OTHERS + 2):
        (folder / f"{age}.jsa").touch()
        os.utime(folder / f"{age}.jsa", (10**9 - age, 10**9 - age))
    archive_options()
    assert sorted(path.stem for path in folder.iterdir()) == [str(age) for age in range(OTHERS)]


def test_where_nothing_can_be_kept_java_starts_as_ever(
    caches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches.write_text("no folder")
    assert archive_options() == ""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two words"))
    assert archive_options() == ""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert archive_options() == ""


@pytest.mark.slow
def test_the_second_session_maps_what_the_first_has_written(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    def start() -> str:
        command = [sys.executable, "-c", STARTED]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    assert start() == "READ"
    until = time.monotonic() + 120
    while not any(file.read_bytes()[:4] == MAGIC for file in tmp_path.rglob("*.jsa")):
        assert time.monotonic() < until, "Java has ended without an archive"
        time.sleep(0.1)
    assert start() == "MAPPED"
