"""Whether there is a Java for Spark, and what is said if not."""

from pathlib import Path

import pytest

from dovetail.cli.java import complaint_about_java


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that is all of the path, and no JAVA_HOME."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def pretend_java(folder: Path, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho '    java.specification.version = {version}' >&2\n")
    java.chmod(0o755)
    return java


def test_no_java(only: Path) -> None:
    complaint = complaint_about_java()
    assert complaint is not None
    assert complaint.startswith("Spark needs Java 17 or 21, and there is none here. Install one")


@pytest.mark.parametrize("version", ["17", "21"])
def test_a_java_that_will_do(only: Path, version: str) -> None:
    pretend_java(only, version)
    assert complaint_about_java() is None


def test_a_java_too_old(only: Path) -> None:
    java = pretend_java(only, "1.8")
    assert f"{java} is Java 1.8." in (complaint_about_java() or "")


def test_java_home_comes_first(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_java(only, "1.8")
    pretend_java(only / "bin", "17")
    monkeypatch.setenv("JAVA_HOME", str(only))
    assert complaint_about_java() is None


def test_something_that_is_no_java(only: Path) -> None:
    java = pretend_java(only, "17")
    java.write_text("#!/bin/sh\nexit 1\n")
    assert "is Java ?." in (complaint_about_java() or "")
